import type { CacheStore } from '#caching/store/cache-store.ts';
import type { ViewReader } from '#views/views.ts';
import { type CacheReading, type ReadingSession, startReading } from './cache-reading.ts';
import {
  findApplication,
  findCluster,
  listApplications,
  listClusterNames,
  listClusters,
  listProjectClusters,
} from './cluster-reads.ts';
import { findLoadBalancer, listLoadBalancers, listServerGroupManagers } from './load-balancer-reads.ts';
import { findInstance, findManifest, listNamespaces, listRawResources } from './resource-reads.ts';
import { search } from './search-reads.ts';
import { findSecurityGroup, listSecurityGroups } from './security-group-reads.ts';
import {
  findServerGroup,
  findTargetServerGroup,
  listServerGroups,
  listServerGroupsByKeys,
} from './server-group-reads.ts';

/** The source of views. */
export interface ViewSource {
  readonly cache: CacheStore;
  /** Whether an account may be shown: for these views other accounts do not exist. */
  mayRead(account: string): boolean;
}

/** The views of a session's accounts over the cache. Each has at most 32 requests in flight. */
export function createViewReader(session: ReadingSession, { cache, mayRead }: ViewSource): ViewReader {
  const readable = {
    accounts: session.accounts.filter(({ name }) => mayRead(name)),
    findAccount: (name: string) => (mayRead(name) ? session.findAccount(name) : undefined),
  };
  const start = (): CacheReading => startReading(readable, cache);
  return {
    listApplications: () => listApplications(start()),
    findApplication: (application) => findApplication(start(), application),
    listClusterNames: (application) => listClusterNames(start(), application),
    listClusters: (application, account) => listClusters(start(), application, account),
    findCluster: (key, how) => findCluster(start(), key, how),
    listServerGroups: (request) => listServerGroups(start(), request),
    listServerGroupsByKeys: (keys) => listServerGroupsByKeys(start(), keys),
    findServerGroup: (key) => findServerGroup(start(), key),
    findTargetServerGroup: (request) => findTargetServerGroup(start(), request),
    listServerGroupManagers: (application) => listServerGroupManagers(start(), application),
    listLoadBalancers: (application) => listLoadBalancers(start(), application),
    findLoadBalancer: (key) => findLoadBalancer(start(), key),
    listSecurityGroups: (request) => listSecurityGroups(start(), request),
    findSecurityGroup: (key) => findSecurityGroup(start(), key),
    findInstance: (key) => findInstance(start(), key),
    findManifest: (request) => findManifest(start(), request),
    listRawResources: (application) => listRawResources(start(), application),
    async listAccountResources(account) {
      const { listAccountResources } = await import('./account-resources.ts');
      return listAccountResources(start(), account);
    },
    search: (request) => search(start(), request),
    listProjectClusters: (project) => listProjectClusters(start(), project),
    listNamespaces: (accounts) => listNamespaces(start(), accounts),
  };
}
