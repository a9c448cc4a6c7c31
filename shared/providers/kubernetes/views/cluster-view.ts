import type { ApplicationPageView } from '#contract/answers/applications.ts';
import type { ClusterNamesView, ClusterSummaryView, ClusterView } from '#contract/answers/clusters.ts';
import { compareText, sortByName } from '#core/text-order.ts';
import type { ApplicationClusters, ClusterKey } from '#views/views.ts';
import { formatFullName } from '../kinds/name.ts';
import type { ServerGroupFacts } from '../rows/facts.ts';
import type { AccountFacts, ApplicationFacts } from './application-facts.ts';
import { findServicesOf, toAccountLoadBalancerViews } from './load-balancer-view.ts';
import { cloudProvider } from './resource-view.ts';
import { toServerGroupView } from './server-group-view.ts';
import { ServiceIndex } from './service-index.ts';

/** The clusters of an application in an account, sorted. */
type AccountClusters = Pick<ApplicationClusters, 'account' | 'clusters'>;

/** A cluster of an application, and whether to include its server groups and load balancers. */
export type ClusterRequest = Pick<ClusterKey, 'account' | 'cluster'> & { readonly expand: boolean };

/**
 * `GET /applications/{application}`; undefined if it has no cluster anywhere. As in Clouddriver, the lists in clusters are empty.
 *
 * @param places its clusters, account by account; an account without any is left out
 */
export function toApplicationDetailView(
  name: string,
  places: readonly AccountClusters[],
): ApplicationPageView | undefined {
  const found = places.filter(({ clusters }) => clusters.length > 0);
  if (found.length === 0) return undefined;
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

/** `GET /applications/{application}/clusters`: names by account, for accounts with any. */
export function toClusterNamesView(places: readonly AccountClusters[]): ClusterNamesView {
  const found = places.filter(({ clusters }) => clusters.length > 0);
  return Object.fromEntries(found.map(({ account, clusters }) => [account, clusters]));
}

/** `GET /applications/{application}/clusters/{account}`. */
export function toClusterSummaryViews(facts: ApplicationFacts, account: string): ClusterSummaryView[] {
  const found = findAccount(facts, account);
  if (found === undefined) return [];
  const services = new ServiceIndex(found.namespaceServices);
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

/** `GET /applications/{application}/clusters/{account}/{cluster}/kubernetes`; undefined if there is none. */
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
  const services = new ServiceIndex(namespaceServices);
  const loadBalancers = findServicesOf(serverGroups, services);
  const context = { account, serverGroups, neighbours: [], namespaceServices };
  return {
    serverGroups: serverGroups.map((serverGroup) => toServerGroupView(serverGroup, { account, services })),
    loadBalancers: sortByName(toAccountLoadBalancerViews(loadBalancers, context)),
  };
}

function findAccount({ accounts }: ApplicationFacts, name: string): AccountFacts | undefined {
  return accounts.find(({ account }) => account === name);
}

function selectMembers({ serverGroups }: AccountFacts, cluster: string): ServerGroupFacts[] {
  return serverGroups.filter(({ facts }) => facts.moniker.cluster === cluster);
}

/** The names of the clusters that server groups and managers belong to, sorted. */
export function listClusters({
  serverGroups,
  managers,
}: Pick<AccountFacts, 'serverGroups' | 'managers'>): string[] {
  const members = [...serverGroups.map(({ facts }) => facts), ...managers];
  const names = members.map(({ moniker }) => moniker.cluster).filter((cluster) => Boolean(cluster));
  return [...new Set(names)].filter((cluster) => cluster !== undefined).sort(compareText);
}
