import type { KubernetesAccount } from '../../account/account.ts';
import type { KubernetesSession } from '../../account/session.ts';
import type { WrittenObjects } from '../../cache-writer/written-objects.ts';

/** Brings what one operation writes into the cache. Undefined where there is no cache. */
export async function trackWrites(
  session: KubernetesSession,
  account: KubernetesAccount,
): Promise<WrittenObjects | undefined> {
  const { clock, log, randomness, settings, openCache } = session;
  if (openCache === undefined || !settings.cache.enabled) return undefined;
  // Loaded late: functions that only look at operations write nothing.
  const [{ WrittenObjects }, { createCacheWriter }, cache] = await Promise.all([
    import('../../cache-writer/written-objects.ts'),
    import('../../cache-writer/cache-writer.ts'),
    openCache(),
  ]);
  const writer = createCacheWriter({ cache, account, clock, randomness });
  return new WrittenObjects({ account, settings: settings.cache, cache, writer, clock, log }, session.epochs);
}
