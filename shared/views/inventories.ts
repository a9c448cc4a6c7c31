import type { CacheStore } from '#caching/store/cache-store.ts';
import type { Viewed, ViewedList } from './views.ts';

/**
 * Routes of inventories: lists of what platforms have besides what applications run there. Each names its inventory and its operation in
 * the description of the API, and says what it lists.
 */
export const inventoryRoutes = {
  '/applications/{application}/clusters/{account}/{cluster}/{cloudProvider}/serverGroups/{serverGroup}/scalingActivities':
    ['scalingActivities', 'listScalingActivities', 'what autoscalers of a server group did'],
  '/applications/{application}/functions': [
    'functions',
    'listApplicationFunctions',
    'cloud functions of an application',
  ],
  '/applications/{application}/serverGroups/{account}/{region}/events': [
    'serverGroupEvents',
    'listServerGroupEvents',
    'events of a server group',
  ],
  '/certificates': ['certificates', 'listCertificates', 'certificates'],
  '/certificates/{cloudProvider}': ['certificates', 'listProviderCertificates', 'certificates of a provider'],
  '/cloudMetrics/{cloudProvider}/{account}/{region}': ['cloudMetrics', 'listCloudMetrics', 'metrics'],
  '/ecs/cloudMetrics/alarms': ['ecsAlarms', 'listEcsAlarms', 'alarms of ECS'],
  '/ecs/ecsClusters': ['ecsClusters', 'listEcsClusters', 'clusters of ECS'],
  '/ecs/secrets': ['ecsSecrets', 'listEcsSecrets', 'names of secrets of ECS'],
  '/ecs/serviceDiscoveryRegistries': ['ecsRegistries', 'listEcsRegistries', 'service registries of ECS'],
  '/elasticIps/{account}': ['elasticIps', 'listElasticIps', 'elastic IP addresses'],
  '/functions': ['functions', 'listFunctions', 'cloud functions'],
  '/instanceTypes': ['instanceTypes', 'listInstanceTypes', 'types of virtual machines'],
  '/keyPairs': ['keyPairs', 'listKeyPairs', 'key pairs'],
  '/networks': ['networks', 'listNetworks', 'networks, by provider'],
  '/networks/{cloudProvider}': ['networks', 'listProviderNetworks', 'networks of a provider'],
  '/reports/reservation': ['reservations', 'listReservationReports', 'reports of reserved instances'],
  '/reports/reservation/{name}': [
    'reservations',
    'listNamedReservationReports',
    'a report of reserved instances',
  ],
  '/roles/{cloudProvider}': ['roles', 'listRoles', 'roles of a provider'],
  '/servicebroker/{account}/services': ['services', 'listServices', 'services of a broker'],
  '/storage': ['storage', 'listStorage', 'storage'],
  '/subnets': ['subnets', 'listSubnets', 'subnets'],
  '/subnets/{cloudProvider}': ['subnets', 'listProviderSubnets', 'subnets of a provider'],
  '/tags': ['entityTags', 'listEntityTags', 'tags of entities'],
  '/vpcs': ['vpcs', 'listVpcs', 'virtual networks'],
} as const satisfies {
  readonly [path: string]: readonly [inventory: string, operationId: string, what: string];
};

/** The one inventory route whose answer has a list for each cloud provider, by its id. */
export const mapRoute = '/networks';

/** Name of an inventory. */
type InventoryName = (typeof inventoryRoutes)[keyof typeof inventoryRoutes][0];

/** What an inventory is asked for. */
export interface InventoryRequest {
  readonly cache: CacheStore;
  /** Whether an account may be shown. */
  mayRead(account: string): boolean;
  /** A variable of the route's path, such as `account`; undefined where it has none of that name. */
  findParameter(name: string): string | undefined;
  /** A query parameter; undefined when absent. */
  findQuery(name: string): string | undefined;
}

/** The inventories of a cloud provider, out of the cache, in its own shapes: Clouddriver has a small `*Provider` for each. */
export type Inventories = {
  readonly [name in InventoryName]?: (request: InventoryRequest) => Promise<ViewedList>;
};

/** The part of a cloud provider that has them. */
interface InventoryOwner {
  /** Its id. */
  readonly name: string;
  readonly inventories?: Inventories;
}

/**
 * The inventory of a route: that of the path's `{cloudProvider}`, or of all. Empty where none has it.
 *
 * @param path the route's template
 * @throws Error for one that is none of {@link inventoryRoutes}
 */
export async function listInventory(
  path: string,
  clouds: readonly InventoryOwner[],
  request: InventoryRequest,
): Promise<Viewed> {
  const [name] = inventoryRoutes[path as keyof typeof inventoryRoutes];
  const wanted = request.findParameter('cloudProvider')?.toLowerCase();
  const asked = clouds.filter((cloud) => wanted === undefined || cloud.name.toLowerCase() === wanted);
  const found = await Promise.all(
    asked.map(async ({ name: cloud, inventories }) => {
      const list = await inventories?.[name]?.(request);
      return list === undefined ? [] : [{ cloud, ...list }];
    }),
  );
  const lists = found.flat();
  const byCloud = Map.groupBy(lists, ({ cloud }) => cloud);
  const join = (parts: typeof lists) => parts.flatMap(({ value }) => value);
  return {
    value:
      path === mapRoute
        ? Object.fromEntries([...byCloud].map(([cloud, parts]) => [cloud, join(parts)]))
        : join(lists),
    accounts: [...new Set(lists.flatMap(({ accounts }) => accounts))],
  };
}
