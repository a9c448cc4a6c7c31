import type { CachedReads } from '#views/views.ts';
import { type CacheReading, openReadings, type ReadingSession, type ViewSource } from './cache-reading.ts';
import {
  findApplication,
  findCluster,
  listApplications,
  listClusterNames,
  listClusters,
  listProjectClusters,
} from './cluster-reads.ts';
import { findLoadBalancer, listLoadBalancers, listServerGroupManagers } from './load-balancer-reads.ts';
import { findInstance, findManifest, listAccountDetails, listRawResources } from './resource-reads.ts';
import { search } from './search-reads.ts';
import { findSecurityGroup, listSecurityGroups } from './security-group-reads.ts';
import {
  findServerGroup,
  findTargetServerGroup,
  listServerGroups,
  listServerGroupsByKeys,
} from './server-group-reads.ts';

/** The views of V2 accounts over the cache. */
export function createViewReader(
  { accounts }: Pick<ReadingSession, 'accounts'>,
  source: ViewSource,
): CachedReads {
  const start = openReadings(accounts, source);
  return {
    ...createCommonReads(start),
    listClusters: (application, account) => listClusters(start(), application, account),
    findCluster: (key, how) => findCluster(start(), key, how),
    listServerGroups: (request) => listServerGroups(start(), request),
    listServerGroupsByKeys: (keys) => listServerGroupsByKeys(start(), keys),
    findServerGroup: (key) => findServerGroup(start(), key),
    findTargetServerGroup: (request) => findTargetServerGroup(start(), request),
    listServerGroupManagers: (application) => listServerGroupManagers(start(), application),
    listLoadBalancers: (application) => listLoadBalancers(start(), application),
    findLoadBalancer: (key) => findLoadBalancer(start(), key),
    findSecurityGroup: (key) => findSecurityGroup(start(), key),
    findInstance: (key) => findInstance(start(), key),
    findManifest: (request) => findManifest(start(), request),
    listRawResources: (application) => listRawResources(start(), application),
    async listAccountResources(account) {
      const { listAccountResources } = await import('./account-resources.ts');
      return listAccountResources(start(), account);
    },
  };
}

/** The views that accounts of both versions have in the same form. */
export function createCommonReads(start: () => CacheReading) {
  return {
    listApplications: () => listApplications(start()),
    findApplication: (application) => findApplication(start(), application),
    listClusterNames: (application) => listClusterNames(start(), application),
    listSecurityGroups: (request) => listSecurityGroups(start(), request),
    search: (request) => search(start(), request),
    listProjectClusters: (project) => listProjectClusters(start(), project),
    listAccountDetails: (accounts) => listAccountDetails(start(), accounts),
  } satisfies CachedReads;
}
