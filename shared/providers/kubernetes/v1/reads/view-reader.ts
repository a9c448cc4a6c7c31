import type { CachedReads } from '#views/views.ts';
import type { KubernetesSession } from '../../account/session.ts';
import { openReadings, type ViewSource } from '../../reads/cache-reading.ts';
import { createCommonReads } from '../../reads/view-reader.ts';
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

/** The views of V1 accounts over the cache, in the shapes of Spinnaker's V1 provider. */
export function createV1ViewReader(
  { v1Accounts }: Pick<KubernetesSession, 'v1Accounts'>,
  source: ViewSource,
): CachedReads {
  const start = openReadings(v1Accounts, source);
  return {
    ...createCommonReads(start),
    listClusters: (application, account) => listV1Clusters(start(), application, account),
    findCluster: (key, how) => findV1Cluster(start(), key, how),
    listServerGroups: (request) => listV1ServerGroups(start(), request),
    listServerGroupsByKeys: (keys) => listV1ServerGroupsByKeys(start(), keys),
    findServerGroup: (key) => findV1ServerGroup(start(), key),
    findTargetServerGroup: (request) => findV1TargetServerGroup(start(), request),
    listLoadBalancers: (application) => listV1LoadBalancers(start(), application),
    findLoadBalancer: (key) => findV1LoadBalancer(start(), key),
    findSecurityGroup: (key) => findV1SecurityGroup(start(), key),
    findInstance: (key) => findV1Instance(start(), key),
  };
}
