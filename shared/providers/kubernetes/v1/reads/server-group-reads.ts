import type { DirectoryEntry, ObjectKey } from '#caching/store/cache-store.ts';
import type { V1ServerGroupView } from '#contract/answers/kubernetes-v1.ts';
import type {
  ServerGroupsRequest,
  TargetServerGroupRequest,
  Viewed,
  ViewedList,
  ViewKey,
} from '#views/views.ts';
import {
  type CacheReading,
  createSight,
  listKnownAccounts,
  listObjects,
  listPlaces,
  readAllFacts,
} from '../../reads/cache-reading.ts';
import { loadAccount } from '../../reads/cached-application.ts';
import { joinPods, loadPodsOf } from '../../reads/namespace-rows.ts';
import type { ObjectFacts, ServerGroupFacts } from '../../rows/facts.ts';
import { getRowName } from '../../rows/row-names.ts';
import {
  parseTargetServerGroup,
  findTargetServerGroup as pickServerGroup,
} from '../../views/target-server-group.ts';
import {
  toV1ServerGroupSummaryView,
  toV1ServerGroupView,
  type WholeServerGroup,
} from '../views/server-group-view.ts';

/** Server groups of an account, with the objects that views join to them. */
export interface V1ServerGroups {
  readonly account: string;
  readonly serverGroups: readonly ServerGroupFacts[];
  /** The Ingresses of their namespaces. */
  readonly ingresses: readonly ObjectFacts[];
}

/** The server groups of an application in the accounts that `isWanted` picks, with their pods. */
export async function loadV1ServerGroups(
  reading: CacheReading,
  application: string,
  isWanted: (account: string) => boolean = () => true,
): Promise<V1ServerGroups[]> {
  const places = await listPlaces(reading, application);
  return Promise.all(
    places
      .filter(({ account }) => isWanted(account))
      .map(async (place) => {
        const { account } = place;
        const [{ serverGroups }, ingresses] = await Promise.all([
          loadAccount(reading, place, { serverGroups: true, pods: true }),
          loadIngresses(reading, place),
        ]);
        return { account, serverGroups, ingresses };
      }),
  );
}

/** The Ingresses of some namespaces, of any application. */
export async function loadIngresses(
  reading: CacheReading,
  { account, locations }: Pick<DirectoryEntry, 'account' | 'locations'>,
): Promise<ObjectFacts[]> {
  const lists = await Promise.all(
    locations.map((namespace) => listObjects(reading, { account, kind: 'ingress', namespace })),
  );
  return readAllFacts(lists.flat());
}

/** The detailed views of server groups. */
export async function toWholeViews(
  reading: CacheReading,
  { account, serverGroups, ingresses }: V1ServerGroups,
): Promise<V1ServerGroupView[]> {
  const whole = await loadWholeServerGroups(reading, account, serverGroups);
  return whole.map((each) => toV1ServerGroupView(each, { account, ingresses }));
}

/** See {@link ViewReader.listServerGroups}. */
export async function listV1ServerGroups(
  reading: CacheReading,
  { applications, clusters, expand }: ServerGroupsRequest,
): Promise<ViewedList> {
  if (clusters?.length === 0) return { value: [], accounts: [] };
  const isWanted = (account: string): boolean =>
    clusters === undefined || clusters.some((cluster) => cluster.startsWith(`${account}:`));
  const names = [...new Set(applications)];
  const found = await Promise.all(names.map((name) => loadV1ServerGroups(reading, name, isWanted)));
  const selected = found.flat().map((own) => (clusters === undefined ? own : selectClusters(own, clusters)));
  const views = await Promise.all(
    selected.map(async (own): Promise<readonly object[]> => {
      if (expand) return toWholeViews(reading, own);
      return own.serverGroups.map((serverGroup) => toV1ServerGroupSummaryView(serverGroup, own));
    }),
  );
  return { value: views.flat(), accounts: [...new Set(selected.map(({ account }) => account))] };
}

/** See {@link ViewReader.listServerGroupsByKeys}. */
export async function listV1ServerGroupsByKeys(
  reading: CacheReading,
  keys: readonly ViewKey[],
): Promise<ViewedList> {
  const found = await Promise.all(keys.map((key) => loadV1ServerGroup(reading, key)));
  const value = found
    .filter((own) => own !== undefined)
    .flatMap((own) => own.serverGroups.map((serverGroup) => toV1ServerGroupSummaryView(serverGroup, own)));
  return { value, accounts: listKnownAccounts(reading, keys) };
}

/** See {@link ViewReader.findServerGroup}. */
export async function findV1ServerGroup(
  reading: CacheReading,
  key: ViewKey,
): Promise<Viewed<V1ServerGroupView> | undefined> {
  const own = await loadV1ServerGroup(reading, key);
  const [value] = own === undefined ? [] : await toWholeViews(reading, own);
  return value && { value, accounts: [key.account] };
}

/** See {@link ViewReader.findTargetServerGroup}. */
export async function findV1TargetServerGroup(
  reading: CacheReading,
  request: TargetServerGroupRequest,
): Promise<Viewed<V1ServerGroupView> | undefined> {
  const { application, account, cluster } = request;
  const target = parseTargetServerGroup(request.target);
  const [own] = await loadV1ServerGroups(reading, application, (name) => name === account);
  if (own === undefined) return undefined;
  const views = await toWholeViews(reading, selectClusters(own, [`${account}:${cluster}`]));
  const value = pickServerGroup(views, { ...request, target });
  return value && { value, accounts: [account] };
}

/** Only those of some clusters: `account:cluster` each. */
export function selectClusters(own: V1ServerGroups, clusters: readonly string[]): V1ServerGroups {
  const wanted = new Set(clusters);
  const serverGroups = own.serverGroups.filter(({ facts }) =>
    wanted.has(`${own.account}:${facts.moniker.cluster}`),
  );
  return { ...own, serverGroups };
}

/** The server group of a bare name; the first kind that has one counts. */
async function loadV1ServerGroup(reading: CacheReading, key: ViewKey): Promise<V1ServerGroups | undefined> {
  const { account, location } = key;
  const facts = await findByName(reading, key, serverGroupKinds);
  if (facts === undefined) return undefined;
  const [pods, ingresses] = await Promise.all([
    loadPodsOf(reading, { account, kind: facts.kind, location, name: facts.name }),
    loadIngresses(reading, { account, locations: [location] }),
  ]);
  return { account, serverGroups: joinPods([facts], pods), ingresses };
}

/** Spinnaker's names of the kinds of server groups, the most requested one first. */
export const serverGroupKinds = ['replicaSet', 'ReplicationController', 'statefulSet', 'daemonSet'] as const;

const autoscalerKind = 'horizontalpodautoscaler';
const deploymentKind = 'deployment';

/** The objects of these keys that an account may see, with all cached details, by the names of their rows. */
export async function loadWhole(
  reading: CacheReading,
  account: string,
  objects: readonly Pick<ObjectFacts, 'kind' | 'namespace' | 'name'>[],
): Promise<Map<string, ObjectFacts>> {
  const { cache, limit, addRows } = reading;
  const isSeen = createSight(reading, account);
  const keys = objects.map(
    ({ kind, namespace, name }): ObjectKey => ({ account, kind, location: namespace, name }),
  );
  const wanted = keys.filter(isSeen);
  if (wanted.length === 0) return new Map();
  addRows(wanted.length);
  const found = await limit(() => cache.getObjects(wanted));
  const facts = readAllFacts(found.filter((object) => object !== undefined));
  return new Map(facts.map((each) => [getRowName(each), each]));
}

/** The object of a bare name, of the first kind that has one. */
export async function findByName(
  reading: CacheReading,
  { account, location, name }: ViewKey,
  kinds: readonly string[],
): Promise<ObjectFacts | undefined> {
  const keys = kinds.map((kind) => ({ kind, namespace: location, name }));
  const found = await loadWhole(reading, account, keys);
  return keys.map((key) => found.get(getRowName(key))).find((facts) => facts !== undefined);
}

/** Server groups of an account with their related objects: their own, those of their pods, Deployments and autoscalers. */
async function loadWholeServerGroups(
  reading: CacheReading,
  account: string,
  serverGroups: readonly ServerGroupFacts[],
): Promise<WholeServerGroup[]> {
  const wanted = serverGroups.flatMap(({ facts, instances }) => [
    facts,
    ...instances,
    ...listCompanions(facts),
  ]);
  const unique = new Map(wanted.map((object) => [getRowName(object), object]));
  const found = await loadWhole(reading, account, [...unique.values()]);
  const complete = (facts: ObjectFacts): ObjectFacts => {
    const whole = found.get(getRowName(facts));
    // Another object may have taken its name since the row was read.
    return whole?.uid === facts.uid ? whole : facts;
  };
  return serverGroups.map(({ facts, instances }) => {
    const companions = listCompanions(facts).map((key) => found.get(getRowName(key)));
    return {
      facts: complete(facts),
      instances: instances.map(complete),
      deployment: companions.find((each) => each?.kind === deploymentKind)?.object,
      autoscaler: companions.find((each) => each?.kind === autoscalerKind)?.object,
    };
  });
}

/** The Deployment of a server group, and the autoscaler of that, or of the server group itself. */
function listCompanions({
  namespace,
  name,
  owners,
}: ObjectFacts): Pick<ObjectFacts, 'kind' | 'namespace' | 'name'>[] {
  const deployment = owners.find(({ kind }) => kind === deploymentKind)?.name;
  const autoscaler = { kind: autoscalerKind, namespace, name: deployment ?? name };
  return deployment === undefined
    ? [autoscaler]
    : [{ kind: deploymentKind, namespace, name: deployment }, autoscaler];
}
