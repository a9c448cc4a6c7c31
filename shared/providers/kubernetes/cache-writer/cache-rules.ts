import { createHash } from 'node:crypto';
import { isV1Account, type KubernetesAccount } from '../account/account.ts';
import type { CacheSettings } from '../account/account-settings.ts';
import { factsVersion } from '../rows/facts-codec.ts';

/**
 * The version of the rules by which facts are read off objects. Raise it where these change while the form of facts stays: then
 * every account is listed anew, and what is cached is shown until its turn comes. From 2 on a ReplicaSet has the cluster of its
 * Deployment, from 3 on pods and services stand in rows of their namespace, from 4 on each pod of a row is told by the one before it,
 * from 5 on an object's item has its cluster.
 */
const readingVersion = 5;

/** The same of what is read off objects of V1 accounts alone. */
const v1ReadingVersion = 1;

/**
 * Tells whether what is cached was chosen by the same rules. By other ones everything is listed anew, in an epoch of its own: what
 * was evicted by the old rules could not come back in the same one.
 */
export function hashCacheRules(account: KubernetesAccount, settings: CacheSettings): string {
  const { kinds, omitKinds, policies, onlySpinnakerManaged, allApplicationRelationships } = account.caching;
  const { namespaces, omitNamespaces, clusterScopedKinds, customResources } = account;
  const rules = [kinds, omitKinds, policies, onlySpinnakerManaged, allApplicationRelationships];
  const told = JSON.stringify([
    ...[factsVersion, readingVersion, settings, rules, namespaces, omitNamespaces, customResources],
    // Left out where it is as it always was, so that what is cached stays.
    ...(clusterScopedKinds ? [] : [clusterScopedKinds]),
    ...(isV1Account(account) ? [v1ReadingVersion] : []),
  ]);
  return createHash('sha256').update(told).digest('base64url').slice(0, 16);
}
