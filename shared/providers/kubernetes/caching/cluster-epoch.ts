import type { AccountEpoch, CacheStore } from '#caching/store/cache-store.ts';
import type { Clock } from '#core/clock.ts';
import { asString, getPath } from '#core/json.ts';
import type { KubernetesClient } from '../api/client.ts';
import { KubernetesApiError } from '../api/errors.ts';

/** The options of finding the epoch. */
export interface EpochTools {
  readonly account: string;
  readonly cache: Pick<CacheStore, 'getEpoch' | 'raiseEpoch'>;
  readonly clock: Clock;
}

const msPerMinute = 60_000;

/**
 * Identifies the cluster: the UID of its namespace `kube-system`. Empty if the account may not read it, or if there is none: then only
 * resource versions that go backwards show that the cluster is another one.
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
 * The current epoch, raised if the account's cluster is not the epoch's.
 *
 * @param cluster the current UID.
 * @param knownCluster the UID that the caching agent read before, if the epoch began without one.
 */
export async function findEpoch(
  tools: EpochTools,
  cluster: string,
  knownCluster: string,
): Promise<AccountEpoch> {
  const current = await tools.cache.getEpoch(tools.account);
  const known = current?.identity || knownCluster;
  const isAnother = known !== '' && cluster !== '' && known !== cluster;
  if (current !== undefined && !isAnother) return current;
  return raiseEpoch(tools, { epoch: current?.epoch ?? 0, identity: cluster });
}

/**
 * Begins another epoch: everything is then listed again, and everything cached is older.
 *
 * @param current the previous epoch, 0 for none, and the current cluster.
 * @returns the current epoch: this or a later one.
 */
export async function raiseEpoch(
  { account, cache, clock }: EpochTools,
  { epoch: current, identity: cluster }: AccountEpoch,
): Promise<AccountEpoch> {
  // Minutes since 1970, so that an epoch lost with its table never recurs.
  const minutes = Math.floor(clock.now() / msPerMinute);
  const epoch = Math.max(current + 1, minutes);
  return cache.raiseEpoch(account, { epoch, identity: cluster });
}
