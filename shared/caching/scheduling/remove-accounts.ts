import type { Clock } from '#core/clock.ts';
import { getErrorMessage } from '#core/errors.ts';
import type { Logger } from '#core/logger.ts';
import type { CacheStore } from '../store/cache-store.ts';
import type { CachingAgentKey, CachingAgentStore, StoredCachingAgent } from './caching-agent-store.ts';

/** Milliseconds after it was taken out of service during which a caching agent may still be writing: 5 minutes. */
export const removalDelayMs = 5 * 60_000;

interface RemovalSystem {
  readonly agents: Pick<CachingAgentStore, 'forget'>;
  readonly cache: Pick<CacheStore, 'deleteAccount'>;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Which caching agents may be removed. */
export interface RemovalOptions {
  /** Caching agents out of service. */
  readonly removed: readonly StoredCachingAgent[];
  /** Wanted caching agents. */
  readonly wanted: readonly CachingAgentKey[];
  /** Accounts that do not run now, since their settings are wrong: they keep their data. */
  readonly rejected: readonly string[];
  /** Monotonic time after which to begin nothing more. */
  readonly endsAt: number;
}

/**
 * Forgets caching agents that were taken out of service at least 5 minutes ago, once nothing of their accounts is left in the cache. An
 * account with other caching agents keeps its data. The next call continues what is not done in time.
 *
 * @returns how many caching agents were forgotten.
 */
export async function removeAccounts(system: RemovalSystem, options: RemovalOptions): Promise<number> {
  const kept = new Set(options.wanted.map(({ account }) => account));
  const nowMs = system.clock.now();
  const old = options.removed.filter(
    ({ account, removedAtMs = nowMs }) =>
      removedAtMs + removalDelayMs <= nowMs && !options.rejected.includes(account),
  );
  let forgotten = 0;
  for (const [account, agents] of Map.groupBy(old, (agent) => agent.account)) {
    if (system.clock.monotonic() >= options.endsAt) break;
    // Other caching agents of it may have been taken out of service later.
    const isWhole = options.removed.filter((agent) => agent.account === account).length === agents.length;
    if (!kept.has(account) && !(isWhole && (await tryEmpty(system, account, options.endsAt)))) continue;
    for (const agent of agents) await system.agents.forget(agent);
    forgotten += agents.length;
  }
  return forgotten;
}

/** Whether nothing is left. The cache itself ensures that its last look comes 5 minutes after the one before. */
async function tryEmpty(
  { cache, clock, log }: RemovalSystem,
  account: string,
  endsAt: number,
): Promise<boolean> {
  let items = 0;
  try {
    while (clock.monotonic() < endsAt) {
      const { deleted, done } = await cache.deleteAccount(account);
      items += deleted;
      if (deleted > 0) continue;
      if (items > 0 || done) log.info('deleted the data of a removed account', { account, items, done });
      return done;
    }
  } catch (error) {
    const cause = getErrorMessage(error);
    log.warn('the data of a removed account could not be deleted', { account, cause });
  }
  return false;
}
