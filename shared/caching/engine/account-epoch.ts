import type { Clock } from '#core/clock.ts';
import type { AccountEpoch, CacheStore } from '../store/cache-store.ts';

/** The options of finding the epoch. */
export interface EpochTools {
  readonly account: string;
  readonly cache: Pick<CacheStore, 'getEpoch' | 'raiseEpoch'>;
  readonly clock: Clock;
}

const msPerMinute = 60_000;

/**
 * The current epoch, raised if the account's platform is not the epoch's.
 *
 * @param identity the current one.
 * @param knownIdentity the one that the caching agent read before, if the epoch began without one.
 */
export async function findEpoch(
  tools: EpochTools,
  identity: string,
  knownIdentity: string,
): Promise<AccountEpoch> {
  const current = await tools.cache.getEpoch(tools.account);
  const known = current?.identity || knownIdentity;
  const isAnother = known !== '' && identity !== '' && known !== identity;
  if (current !== undefined && !isAnother) return current;
  return raiseEpoch(tools, { epoch: current?.epoch ?? 0, identity });
}

/**
 * Begins another epoch: everything is then listed again, and everything cached is older.
 *
 * @param current the previous epoch, 0 for none, and the current identity.
 * @returns the current epoch: this or a later one.
 */
export async function raiseEpoch(
  { account, cache, clock }: EpochTools,
  { epoch: current, identity }: AccountEpoch,
): Promise<AccountEpoch> {
  // Minutes since 1970, so that an epoch lost with its table never recurs.
  const minutes = Math.floor(clock.now() / msPerMinute);
  const epoch = Math.max(current + 1, minutes);
  return cache.raiseEpoch(account, { epoch, identity });
}
