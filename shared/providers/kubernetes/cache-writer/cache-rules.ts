import { createHash } from 'node:crypto';
import { isV1Account, type KubernetesAccount } from '../account/account.ts';
import type { CacheSettings } from '../account/account-settings.ts';
import { factsVersion } from '../rows/facts-codec.ts';

/**
 * The version of the rules by which facts are read from objects. Raise it if these change while the form of facts stays: every account is
 * then listed again, and the cache is shown until its turn comes. From 2 on a ReplicaSet has its Deployment's cluster, from 3 on pods and
 * services are in rows of their namespace, from 4 on each pod of a row is stored as its difference from the one before, from 5 on an
 * object's item has its cluster.
 */
const readingVersion = 5;

/** The same for what is read only from objects of V1 accounts. */
const v1ReadingVersion = 1;

/**
 * Identifies the rules that chose what is cached. If they change, everything is listed again, in a new epoch: what the old rules evicted
 * could not come back in the same one.
 */
export function hashCacheRules(account: KubernetesAccount, settings: CacheSettings): string {
  const { kinds, omitKinds, policies, onlySpinnakerManaged, allApplicationRelationships } = account.caching;
  const { namespaces, omitNamespaces, clusterScopedKinds, customResources } = account;
  const rules = [kinds, omitKinds, policies, onlySpinnakerManaged, allApplicationRelationships];
  const told = JSON.stringify([
    ...[factsVersion, readingVersion, settings, rules, namespaces, omitNamespaces, customResources],
    // Left out for the default, so that existing caches stay valid.
    ...(clusterScopedKinds ? [] : [clusterScopedKinds]),
    ...(isV1Account(account) ? [v1ReadingVersion] : []),
  ]);
  return createHash('sha256').update(told).digest('base64url').slice(0, 16);
}
