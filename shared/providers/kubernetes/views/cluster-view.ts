import { compareText, sortByName } from '../../../core/text-order.ts';
import type { ApplicationClusters } from '../../../core/views/views.ts';
import { formatFullName } from '../kinds/name.ts';
import type { ServerGroupFacts } from '../rows/facts.ts';
import type { AccountFacts, ApplicationFacts } from './application-facts.ts';
import { findServicesOf, type LoadBalancerView, toAccountLoadBalancerViews } from './load-balancer-view.ts';
import { cloudProvider } from './resource-view.ts';
import { type ServerGroupView, toServerGroupView } from './server-group-view.ts';
import { indexServices } from './service-index.ts';

/** Who a cluster is. */
export interface ClusterMonikerView {
  readonly app: string;
  readonly cluster: string;
}

/** A cluster of an account's list. */
export interface ClusterSummaryView {
  readonly name: string;
  readonly account: string;
  readonly moniker: ClusterMonikerView;
  /** Full names of the services its server groups are behind. */
  readonly loadBalancers: readonly string[];
  /** Full names. */
  readonly serverGroups: readonly string[];
}

/** A cluster with what it consists of. */
export interface ClusterView {
  readonly name: string;
  readonly type: typeof cloudProvider;
  readonly accountName: string;
  readonly application: string;
  readonly moniker: ClusterMonikerView;
  /** Empty unless expanded. */
  readonly serverGroups: readonly ServerGroupView[];
  /** The services its server groups are behind, with this cluster's server groups alone. Empty unless expanded. */
  readonly loadBalancers: readonly LoadBalancerView[];
}

/** An application's page. */
export interface ApplicationDetailView {
  readonly name: string;
  readonly attributes: { readonly name: string; readonly cloudProviders: typeof cloudProvider };
  /** By account; the lists in them are empty, as Clouddriver's are for Kubernetes. */
  readonly clusters: {
    readonly [account: string]: readonly {
      readonly name: string;
      readonly provider: typeof cloudProvider;
      readonly loadBalancers: readonly never[];
      readonly serverGroups: readonly never[];
    }[];
  };
}

/** Which cluster of an application. */
export interface ClusterRequest {
  readonly account: string;
  readonly cluster: string;
  /** Whether server groups and load balancers are wanted with it. */
  readonly expand: boolean;
}

/** The clusters of an application, account by account, for the list of applications. An account without any is left out. */
export function listApplicationClusters({ application, accounts }: ApplicationFacts): ApplicationClusters[] {
  return accounts
    .map((facts) => ({ application, account: facts.account, clusters: listClusters(facts) }))
    .filter(({ clusters }) => clusters.length > 0);
}

/** `GET /applications/{application}`; undefined when it has no cluster anywhere. */
export function toApplicationDetailView(facts: ApplicationFacts): ApplicationDetailView | undefined {
  const found = listApplicationClusters(facts);
  if (found.length === 0) return undefined;
  const name = facts.application;
  const clusters = found.map(({ account, clusters }) => [
    account,
    clusters.map((cluster) => ({
      name: cluster,
      provider: cloudProvider,
      loadBalancers: [],
      serverGroups: [],
    })),
  ]);
  return {
    name,
    attributes: { name, cloudProviders: cloudProvider },
    clusters: Object.fromEntries(clusters),
  };
}

/** `GET /applications/{application}/clusters`: names by account. */
export function toClusterNamesView(facts: ApplicationFacts): {
  readonly [account: string]: readonly string[];
} {
  return Object.fromEntries(
    listApplicationClusters(facts).map(({ account, clusters }) => [account, clusters]),
  );
}

/** `GET /applications/{application}/clusters/{account}`. */
export function toClusterSummaryViews(facts: ApplicationFacts, account: string): ClusterSummaryView[] {
  const found = findAccount(facts, account);
  if (found === undefined) return [];
  const services = indexServices(found.namespaceServices);
  const members = Map.groupBy(found.serverGroups, (serverGroup) => serverGroup.facts.moniker.cluster);
  return listClusters(found).map((cluster) => {
    const serverGroups = members.get(cluster) ?? [];
    return {
      name: cluster,
      account,
      moniker: { app: facts.application, cluster },
      loadBalancers: findServicesOf(serverGroups, services)
        .map(({ kind, name }) => formatFullName(kind, name))
        .sort(compareText),
      serverGroups: serverGroups.map((each) => formatFullName(each.facts.kind, each.facts.name)),
    };
  });
}

/** `GET /applications/{application}/clusters/{account}/{cluster}/kubernetes`; undefined when there is none. */
export function toClusterView(
  facts: ApplicationFacts,
  { account, cluster, expand }: ClusterRequest,
): ClusterView | undefined {
  const found = findAccount(facts, account);
  if (found === undefined || !listClusters(found).includes(cluster)) return undefined;
  const { application } = facts;
  const serverGroups = expand ? selectMembers(found, cluster) : [];
  return {
    name: cluster,
    type: cloudProvider,
    accountName: account,
    application,
    moniker: { app: application, cluster },
    ...expandCluster(found, serverGroups),
  };
}

/** Views of the server groups of one cluster, and of the services they are behind. */
function expandCluster(
  { account, namespaceServices }: AccountFacts,
  serverGroups: readonly ServerGroupFacts[],
): Pick<ClusterView, 'serverGroups' | 'loadBalancers'> {
  const services = indexServices(namespaceServices);
  const loadBalancers = findServicesOf(serverGroups, services);
  const surroundings = { account, serverGroups, neighbours: [], namespaceServices };
  return {
    serverGroups: serverGroups.map((serverGroup) => toServerGroupView(serverGroup, { account, services })),
    loadBalancers: sortByName(toAccountLoadBalancerViews(loadBalancers, surroundings)),
  };
}

function findAccount({ accounts }: ApplicationFacts, name: string): AccountFacts | undefined {
  return accounts.find(({ account }) => account === name);
}

function selectMembers({ serverGroups }: AccountFacts, cluster: string): ServerGroupFacts[] {
  return serverGroups.filter(({ facts }) => facts.moniker.cluster === cluster);
}

/** The names of the clusters that server groups and managers belong to, sorted. */
function listClusters({ serverGroups, managers }: AccountFacts): string[] {
  const members = [...serverGroups.map(({ facts }) => facts), ...managers];
  const names = members.map(({ moniker }) => moniker.cluster).filter((cluster) => Boolean(cluster));
  return [...new Set(names)].filter((cluster) => cluster !== undefined).sort(compareText);
}
