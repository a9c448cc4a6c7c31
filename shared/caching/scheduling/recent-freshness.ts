import type { Clock } from '#core/clock.ts';
import type { AccountFreshness, CachingAgentStore } from './caching-agent-store.ts';

/** Milliseconds for which a freshness that was read is reused. The cache is by then as much fresher than it is said to be. */
const recentMs = 1_000;

/** The freshness of accounts that a process read within the last second, by name. */
export type RecentFreshness = Map<string, { readonly untilMs: number; readonly told: ReadingFreshness }>;

type ReadingFreshness = ReturnType<CachingAgentStore['readFreshness']>;

/** What a process remembers of {@link readRecentFreshness}. */
export function createRecentFreshness(): RecentFreshness {
  return new Map();
}

/**
 * How fresh the caches of accounts are, or were within the last second: a page asks for several views at the same moment. Not for callers
 * that wait until a cache is fresh. An account that was never read to its end is asked for again each time.
 *
 * @throws what the store throws; the next call asks it again.
 */
export async function readRecentFreshness(
  {
    agents,
    clock,
    recent,
  }: { agents: Pick<CachingAgentStore, 'readFreshness'>; clock: Clock; recent: RecentFreshness },
  accounts: readonly string[],
): ReadingFreshness {
  const nowMs = clock.monotonic();
  const unknown = accounts.filter((account) => (recent.get(account)?.untilMs ?? 0) <= nowMs);
  if (unknown.length > 0) {
    const told = agents.readFreshness(unknown);
    for (const account of unknown) recent.set(account, { untilMs: nowMs + recentMs, told });
    void forgetUntold(recent, told);
  }
  const freshness = new Map<string, AccountFreshness>();
  const readings = new Map(accounts.map((account) => [account, recent.get(account)?.told]));
  for (const [account, told] of readings) {
    const own = (await told)?.get(account);
    if (own !== undefined) freshness.set(account, own);
  }
  return freshness;
}

/** Forgets accounts whose freshness is unknown. */
async function forgetUntold(recent: RecentFreshness, told: ReadingFreshness): Promise<void> {
  const freshness = await told.catch(() => new Map<string, AccountFreshness>());
  for (const [account, { told: known }] of recent) {
    if (known === told && freshness.get(account)?.asOfMs === undefined) recent.delete(account);
  }
}
