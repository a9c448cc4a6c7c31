import type { AccountEpoch, CacheStore } from '#caching/store/cache-store.ts';
import type { Clock } from '#core/clock.ts';
import { asString, getPath } from '#core/json.ts';
import type { KubernetesClient } from '../api/client.ts';
import { KubernetesApiError } from '../api/errors.ts';

/** What finding out the epoch needs. */
export interface EpochTools {
  readonly account: string;
  readonly cache: Pick<CacheStore, 'getEpoch' | 'raiseEpoch'>;
  readonly clock: Clock;
}

const msPerMinute = 60_000;

/**
 * What tells the cluster from others: the UID of its namespace `kube-system`. Empty where the account may not read that, or where
 * there is none: then only resource versions that go backwards tell that the cluster is another one.
 *
 * @throws KubernetesApiError for other refusals, KubernetesConnectionError, or the signal's reason
 */
export async function readClusterUid(client: KubernetesClient, signal: AbortSignal): Promise<string> {
  const resource = await client.getResource('v1', 'Namespace', { signal });
  try {
    const namespace = await client.get({ resource, name: 'kube-system' }, { signal });
    return asString(getPath(namespace, 'metadata', 'uid')) ?? '';
  } catch (error) {
    if (error instanceof KubernetesApiError && error.status === 403) return '';
    throw error;
  }
}

/**
 * The epoch in force, raised if the account's cluster is another one than that of the epoch.
 *
 * @param cluster the UID of now.
 * @param knownCluster the UID that the agent read before, where the epoch began without one.
 */
export async function findEpoch(
  tools: EpochTools,
  cluster: string,
  knownCluster: string,
): Promise<AccountEpoch> {
  const current = await tools.cache.getEpoch(tools.account);
  const known = current?.cluster || knownCluster;
  const isAnother = known !== '' && cluster !== '' && known !== cluster;
  if (current !== undefined && !isAnother) return current;
  return raiseEpoch(tools, { epoch: current?.epoch ?? 0, cluster });
}

/**
 * Begins another epoch: everything is then listed anew, and whatever is cached is older than that.
 *
 * @param current the epoch before, 0 for none, and the cluster of now.
 * @returns the epoch in force: this or a later one.
 */
export async function raiseEpoch(
  { account, cache, clock }: EpochTools,
  { epoch: current, cluster }: AccountEpoch,
): Promise<AccountEpoch> {
  // Minutes since 1970: so one that was lost with its table never comes back.
  const minutes = Math.floor(clock.now() / msPerMinute);
  const epoch = Math.max(current + 1, minutes);
  return cache.raiseEpoch(account, { epoch, cluster });
}
