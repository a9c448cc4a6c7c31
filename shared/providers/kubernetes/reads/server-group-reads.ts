import type { ServerGroupView } from '#contract/answers/server-groups.ts';
import type {
  ServerGroupsRequest,
  TargetServerGroupRequest,
  Viewed,
  ViewedList,
  ViewKey,
} from '#views/views.ts';
import { selectClusters } from '../views/application-facts.ts';
import {
  toExpandedServerGroupViews,
  toServerGroupSummaryView,
  toServerGroupSummaryViews,
  toServerGroupView,
} from '../views/server-group-view.ts';
import { ServiceIndex } from '../views/service-index.ts';
import {
  parseTargetServerGroup,
  findTargetServerGroup as pickServerGroup,
} from '../views/target-server-group.ts';
import {
  type CacheReading,
  findFacts,
  findObjects,
  listKnownAccounts,
  toObjectKey,
} from './cache-reading.ts';
import { loadApplication } from './cached-application.ts';
import { joinPods, loadNamespaceRows, loadPodsOf, loadServerGroupsOf } from './namespace-rows.ts';

const wanted = { serverGroups: true, pods: true, services: true } as const;

/** See {@link ViewReader.listServerGroups}. */
export async function listServerGroups(
  reading: CacheReading,
  { applications, clusters, expand }: ServerGroupsRequest,
): Promise<ViewedList> {
  // Accounts and clusters may have colons in their names.
  const isWanted = (account: string): boolean =>
    clusters === undefined || clusters.some((cluster) => cluster.startsWith(`${account}:`));
  if (clusters?.length === 0) return { value: [], accounts: [] };
  const names = [...new Set(applications)];
  const found = await Promise.all(names.map((name) => loadApplication(reading, name, { wanted, isWanted })));
  const toViews = expand ? toExpandedServerGroupViews : toServerGroupSummaryViews;
  const value = found.flatMap(({ facts }): object[] =>
    toViews(clusters === undefined ? facts : selectClusters(facts, clusters)),
  );
  return { value, accounts: [...new Set(found.flatMap(({ accounts }) => accounts))] };
}

/** See {@link ViewReader.listServerGroupsByKeys}. */
export async function listServerGroupsByKeys(
  reading: CacheReading,
  keys: readonly ViewKey[],
): Promise<ViewedList> {
  const objects = await findObjects(reading, keys);
  const namespaces = Map.groupBy(objects, ({ key }) => key.account);
  const [found, services] = await Promise.all([
    loadServerGroupsOf(reading, objects),
    Promise.all(
      [...namespaces].map(async ([account, members]) => {
        const place = { account, locations: [...new Set(members.map(({ key }) => key.location))] };
        const { services } = await loadNamespaceRows(reading, place, { services: true });
        return [account, new ServiceIndex(services)] as const;
      }),
    ),
  ]);
  const indexes = new Map(services);
  const value = found.flatMap(({ account, serverGroup }) => {
    const index = indexes.get(account);
    return index === undefined ? [] : [toServerGroupSummaryView(serverGroup, { account, services: index })];
  });
  return { value, accounts: listKnownAccounts(reading, keys) };
}

/** See {@link ViewReader.findServerGroup}. */
export async function findServerGroup(reading: CacheReading, key: ViewKey): Promise<Viewed | undefined> {
  const { account, location } = key;
  const objectKey = toObjectKey(key);
  if (objectKey === undefined || reading.session.findAccount(account) === undefined) return undefined;
  const [facts, pods, { services }] = await Promise.all([
    findFacts(reading, key),
    loadPodsOf(reading, objectKey),
    loadNamespaceRows(reading, { account, locations: [location] }, { services: true }),
  ]);
  const [serverGroup] = facts === undefined ? [] : joinPods([facts], pods);
  if (serverGroup === undefined) return undefined;
  const value = toServerGroupView(serverGroup, { account, services: new ServiceIndex(services) });
  return { value, accounts: [account] };
}

/** See {@link ViewReader.findTargetServerGroup}. */
export async function findTargetServerGroup(
  reading: CacheReading,
  request: TargetServerGroupRequest,
): Promise<Viewed<ServerGroupView> | undefined> {
  const { application, account, cluster } = request;
  const target = parseTargetServerGroup(request.target);
  const isWanted = (name: string): boolean => name === account;
  const { facts, accounts } = await loadApplication(reading, application, { wanted, isWanted });
  const views = toExpandedServerGroupViews(selectClusters(facts, [`${account}:${cluster}`]));
  const value = pickServerGroup(views, { ...request, target });
  return value && { value, accounts };
}
