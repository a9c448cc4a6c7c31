import * as z from 'zod';
import type { ApiAnswer, ApiParameter, ApiRoute, ApiRoutes } from './api-route.ts';
import { accountParameter, cloudProviderParameter, clusterParameter, pathParameter } from './parameters.ts';
import { applicationParameter, regionParameter } from './resources.ts';

/** Operation ids of routes by path, and what one would get there of other providers. */
type Absences = { readonly [path: string]: readonly [operationId: string, what: string] };

const lists: Absences = {
  '/applications/{application}/clusters/{account}/{cluster}/{cloudProvider}/serverGroups/{serverGroup}/scalingActivities':
    ['listScalingActivities', 'what autoscalers of a server group did'],
  '/applications/{application}/functions': ['listApplicationFunctions', 'cloud functions of an application'],
  '/applications/{application}/serverGroups/{account}/{region}/events': [
    'listServerGroupEvents',
    'events of a server group of ECS',
  ],
  '/certificates': ['listCertificates', 'certificates of providers'],
  '/certificates/{cloudProvider}': ['listProviderCertificates', 'certificates of a provider'],
  '/cloudMetrics/{cloudProvider}/{account}/{region}': ['listCloudMetrics', 'metrics of a provider'],
  '/ecs/cloudMetrics/alarms': ['listEcsAlarms', 'alarms of ECS'],
  '/ecs/ecsClusters': ['listEcsClusters', 'clusters of ECS'],
  '/ecs/secrets': ['listEcsSecrets', 'secrets of ECS'],
  '/ecs/serviceDiscoveryRegistries': ['listEcsRegistries', 'service registries of ECS'],
  '/elasticIps/{account}': ['listElasticIps', 'elastic IP addresses'],
  '/functions': ['listFunctions', 'cloud functions'],
  '/instanceTypes': ['listInstanceTypes', 'types of virtual machines'],
  '/keyPairs': ['listKeyPairs', 'key pairs'],
  '/networks/{cloudProvider}': ['listProviderNetworks', 'networks of a provider'],
  '/reports/reservation': ['listReservationReports', 'reports of reserved instances'],
  '/reports/reservation/{name}': ['listNamedReservationReports', 'a report of reserved instances'],
  '/roles/{cloudProvider}': ['listRoles', 'roles of a provider'],
  '/servicebroker/{account}/services': ['listServices', 'services of a broker'],
  '/storage': ['listStorage', 'storage'],
  '/subnets': ['listSubnets', 'subnets'],
  '/subnets/{cloudProvider}': ['listProviderSubnets', 'subnets of a provider'],
  '/tags': ['listEntityTags', 'tags of entities'],
  '/vpcs': ['listVpcs', 'virtual networks'],
};

const maps: Absences = {
  '/networks': ['listNetworks', 'networks by provider'],
};

const emptyList: ApiAnswer = {
  description: 'An empty list.',
  schema: z.array(z.unknown()).max(0),
  examples: { none: { summary: 'None', value: [] } },
};

const emptyMap: ApiAnswer = {
  description: 'An empty map.',
  schema: z.strictObject({}),
  examples: { none: { summary: 'None', value: {} } },
};

const parameters = [
  accountParameter,
  applicationParameter,
  cloudProviderParameter,
  regionParameter,
  pathParameter('type', { description: 'Provider of the accounts.', example: 'kubernetes' }),
  clusterParameter,
  pathParameter('name', { description: 'Name of the report.', example: 'v3' }),
  pathParameter('serverGroup', { description: 'Name of the server group.', example: 'frontend-v003' }),
];

/** Routes of what only providers or services have that are not there. */
export const otherProviderRoutes: ApiRoutes = {
  ...toRoutes(lists, emptyList),
  ...toRoutes(maps, emptyMap),
};

function toRoutes(absences: Absences, answer: ApiAnswer): ApiRoutes {
  const routes = Object.entries(absences).map(([path, [operationId, what]]): [string, ApiRoute] => [
    `GET ${path}`,
    {
      operationId,
      tag: 'other providers',
      summary: `None: ${what}`,
      parameters: findParameters(path),
      answer,
    },
  ]);
  return Object.fromEntries(routes);
}

/** Those of a path, in its order. */
function findParameters(path: string): readonly ApiParameter[] {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
  return names.flatMap((name) => parameters.filter((parameter) => parameter.name === name));
}
