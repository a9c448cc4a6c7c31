import type { ClusterSummaryView } from '#contract/answers/clusters.ts';
import type { V1ClusterView } from '#contract/answers/kubernetes-v1.ts';
import { compareText, sortByName } from '#core/text-order.ts';
import type { ClusterKey, Viewed, ViewedList } from '#views/views.ts';
import type { CacheReading } from '../../reads/cache-reading.ts';
import { cloudProvider } from '../../views/resource-view.ts';
import { listLoadBalancersOf } from '../views/server-group-links.ts';
import { loadNamedLoadBalancers } from './load-balancer-reads.ts';
import {
  loadV1ServerGroups,
  selectClusters,
  toWholeViews,
  type V1ServerGroups,
} from './server-group-reads.ts';

/** See {@link ViewReader.listClusters}. */
export async function listV1Clusters(
  reading: CacheReading,
  application: string,
  account: string,
): Promise<ViewedList> {
  const found = await loadV1ServerGroups(reading, application, (name) => name === account);
  const value = found.flatMap(({ serverGroups }) => {
    const clusters = Map.groupBy(serverGroups, ({ facts }) => facts.moniker.cluster);
    return [...clusters].flatMap(([cluster, members]): ClusterSummaryView[] =>
      cluster === undefined
        ? []
        : [
            {
              name: cluster,
              account,
              moniker: { app: application, cluster },
              loadBalancers: listNames(members.flatMap(({ facts }) => listLoadBalancersOf(facts))),
              serverGroups: members.map(({ facts }) => facts.name),
            },
          ],
    );
  });
  return { value: sortByName(value), accounts: found.map((own) => own.account) };
}

/** See {@link ViewReader.findCluster}. */
export async function findV1Cluster(
  reading: CacheReading,
  { application, account, cluster }: ClusterKey,
  { expand }: { readonly expand: boolean },
): Promise<Viewed<V1ClusterView> | undefined> {
  const [found] = await loadV1ServerGroups(reading, application, (name) => name === account);
  const own = found && selectClusters(found, [`${account}:${cluster}`]);
  if (own === undefined || own.serverGroups.length === 0) return undefined;
  const parts = expand ? await expandCluster(reading, own) : { serverGroups: [], loadBalancers: [] };
  const value: V1ClusterView = {
    name: cluster,
    type: cloudProvider,
    accountName: account,
    application,
    moniker: { app: application, cluster },
    ...parts,
  };
  return { value, accounts: [account] };
}

/** The load balancers show only this cluster's server groups. */
async function expandCluster(
  reading: CacheReading,
  own: V1ServerGroups,
): Promise<Pick<V1ClusterView, 'serverGroups' | 'loadBalancers'>> {
  const { account } = own;
  const keys = own.serverGroups.flatMap(({ facts }) =>
    listLoadBalancersOf(facts).map((name) => ({ namespace: facts.namespace, name })),
  );
  const unique = new Map(keys.map((key) => [`${key.namespace} ${key.name}`, key]));
  const [serverGroups, loadBalancers] = await Promise.all([
    toWholeViews(reading, own),
    loadNamedLoadBalancers(reading, account, [...unique.values()]),
  ]);
  const members = new Set(own.serverGroups.map(({ facts }) => facts.name));
  return {
    serverGroups,
    loadBalancers: sortByName(loadBalancers).map((loadBalancer) => ({
      ...loadBalancer,
      serverGroups: loadBalancer.serverGroups.filter(({ name }) => members.has(name)),
    })),
  };
}

function listNames(names: readonly string[]): string[] {
  return [...new Set(names)].sort(compareText);
}
