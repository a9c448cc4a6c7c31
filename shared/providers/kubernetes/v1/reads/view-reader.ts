import type { Account } from '#accounts/model/account.ts';
import { joinViewReaders } from '#views/view-set.ts';
import type { ProjectClusterSpec, ProjectSpec, ViewedList, ViewReader } from '#views/views.ts';
import type { KubernetesSession } from '../../account/session.ts';
import { type CacheReading, startReading } from '../../reads/cache-reading.ts';
import {
  findApplication,
  listApplications,
  listClusterNames,
  listProjectClusters,
} from '../../reads/cluster-reads.ts';
import { listNamespaces } from '../../reads/resource-reads.ts';
import { search } from '../../reads/search-reads.ts';
import { listSecurityGroups } from '../../reads/security-group-reads.ts';
import type { ViewSource } from '../../reads/view-reader.ts';
import { findV1Cluster, listV1Clusters } from './cluster-reads.ts';
import {
  findV1Instance,
  findV1LoadBalancer,
  findV1SecurityGroup,
  listV1LoadBalancers,
} from './load-balancer-reads.ts';
import {
  findV1ServerGroup,
  findV1TargetServerGroup,
  listV1ServerGroups,
  listV1ServerGroupsByKeys,
} from './server-group-reads.ts';

/** The result of views that V1 accounts do not have. */
const nothing = { value: [], accounts: [] };

/** The views of all accounts of a session: those of V1 in the shapes of Spinnaker's V1 provider, beside `reader` for the others. */
export function joinV1ViewReader(
  session: KubernetesSession,
  { reader, ...source }: ViewSource & { readonly reader: ViewReader },
): ViewReader {
  const getNames = (accounts: readonly Account[]): string[] => accounts.map(({ name }) => name);
  const v1 = createV1ViewReader(session, source);
  return {
    ...joinViewReaders([
      { accounts: getNames(session.accounts), reader },
      { accounts: getNames(session.v1Accounts), reader: v1 },
    ]),
    listProjectClusters: (project) => joinProjectClusters(project, { session, reader, v1 }),
  };
}

/** Each cluster of a project belongs to one account: the reader that knows it returns it, and the order stays. */
async function joinProjectClusters(
  project: ProjectSpec,
  {
    session,
    reader,
    v1,
  }: { readonly session: KubernetesSession; readonly reader: ViewReader; readonly v1: ViewReader },
): Promise<ViewedList> {
  const isV1 = ({ account }: ProjectClusterSpec): boolean => session.findV1Account(account) !== undefined;
  const [own, others] = await Promise.all([
    v1.listProjectClusters({ ...project, clusters: project.clusters.filter(isV1) }),
    reader.listProjectClusters({ ...project, clusters: project.clusters.filter((each) => !isV1(each)) }),
  ]);
  const left = { own: [...own.value], others: [...others.value] };
  const value = project.clusters.flatMap((cluster) => (isV1(cluster) ? left.own : left.others).shift() ?? []);
  return { value, accounts: [...new Set([...own.accounts, ...others.accounts])] };
}

function createV1ViewReader(session: KubernetesSession, { cache, mayRead }: ViewSource): ViewReader {
  const readable = {
    accounts: session.v1Accounts.filter(({ name }) => mayRead(name)),
    findAccount: (name: string) => (mayRead(name) ? session.findV1Account(name) : undefined),
  };
  const start = (): CacheReading => startReading(readable, cache);
  return {
    listApplications: () => listApplications(start()),
    findApplication: (application) => findApplication(start(), application),
    listClusterNames: (application) => listClusterNames(start(), application),
    listClusters: (application, account) => listV1Clusters(start(), application, account),
    findCluster: (key, how) => findV1Cluster(start(), key, how),
    listServerGroups: (request) => listV1ServerGroups(start(), request),
    listServerGroupsByKeys: (keys) => listV1ServerGroupsByKeys(start(), keys),
    findServerGroup: (key) => findV1ServerGroup(start(), key),
    findTargetServerGroup: (request) => findV1TargetServerGroup(start(), request),
    listServerGroupManagers: async () => nothing,
    listLoadBalancers: (application) => listV1LoadBalancers(start(), application),
    findLoadBalancer: (key) => findV1LoadBalancer(start(), key),
    listSecurityGroups: (request) => listSecurityGroups(start(), request),
    findSecurityGroup: (key) => findV1SecurityGroup(start(), key),
    findInstance: (key) => findV1Instance(start(), key),
    search: (request) => search(start(), request),
    listProjectClusters: (project) => listProjectClusters(start(), project),
    findManifest: async () => undefined,
    listRawResources: async () => nothing,
    listNamespaces: (accounts) => listNamespaces(start(), accounts),
  };
}
