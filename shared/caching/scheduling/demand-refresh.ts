import type { Hints } from '#agents/agent-connections.ts';
import { isCacheOwner } from './cache-owner.ts';
import type { AccountFreshness, CachingAgentStore } from './caching-agent-store.ts';
import { type CachingAgentSender, sendMessages } from './send-caching-agents.ts';

/** What a demand for fresh data needs. A cache context is one. */
export interface DemandContext extends CachingAgentSender {
  readonly agents: Pick<CachingAgentStore, 'readFreshness' | 'demand'>;
  /** Notifies agents in clusters. Default: they find the demand when they next ask for work. */
  readonly hints?: Hints | undefined;
}

/** How fresh, and how long to wait for it. */
export interface DemandOptions {
  /** Maximum age in milliseconds: what was so that long before the call is to be in the cache. */
  readonly maxAgeMs: number;
  /** Monotonic time of the context's clock, milliseconds, at which to wait no longer. */
  readonly deadlineMs: number;
  readonly signal: AbortSignal;
}

/** Milliseconds between two reads: the first pause, its growth, and the longest. */
const pauses = { firstMs: 120, factor: 1.15, mostMs: 1_000 } as const;

/** Milliseconds after which runs are demanded again: a run under way may have begun too early. */
const demandIntervalMs = 3_000;

/**
 * Has the caches of accounts refreshed that are older than `maxAgeMs`, and waits until they are fresh or time is up. It stops waiting for
 * an account that a complete run since the call has not made fresh, since the run failed or may not read everything. Accounts without
 * caching agents are left out.
 *
 * @returns how fresh they are now, which may be less than was demanded.
 * @throws the signal's reason once it is aborted; what the store throws.
 */
export async function demandRefresh(
  context: DemandContext,
  accounts: readonly string[],
  { maxAgeMs, deadlineMs, signal }: DemandOptions,
): Promise<ReadonlyMap<string, AccountFreshness>> {
  const { clock, agents } = context;
  const calledAtMs = clock.now();
  const wantedMs = calledAtMs - maxAgeMs;
  let freshness = await agents.readFreshness(accounts);
  let pauseMs: number = pauses.firstMs;
  let demandedAt = Number.NEGATIVE_INFINITY;
  for (;;) {
    const stale = [...freshness.values()].filter(
      ({ asOfMs = 0, triedAtMs = 0 }) => asOfMs < wantedMs && triedAtMs <= calledAtMs,
    );
    const nowMs = clock.monotonic();
    if (stale.length === 0 || nowMs >= deadlineMs) return freshness;
    if (nowMs - demandedAt >= demandIntervalMs) {
      await sendDemands(context, stale, wantedMs);
      demandedAt = nowMs;
    }
    await clock.sleep(Math.min(pauseMs, Math.max(0, deadlineMs - clock.monotonic())), signal);
    pauseMs = Math.min(pauses.mostMs, pauseMs * pauses.factor);
    freshness = await agents.readFreshness(accounts);
  }
}

/** Has accounts cached as of `wantedMs`, wall time. Workers prove it of what they watch; others run, each alone: it may list at once. */
export async function sendDemands(
  context: DemandContext,
  stale: readonly AccountFreshness[],
  wantedMs: number,
): Promise<void> {
  const agents = stale.flatMap((each) => each.agents);
  const run = agents.filter(({ watchedBy }) => watchedBy === undefined);
  const messages = run.map(({ account, name }) => ({
    agents: [{ account, name }],
    dueMs: wantedMs,
    isDemanded: true,
  }));
  const demands = agents.map(({ watchedBy, account }) =>
    watchedBy === undefined ? undefined : context.agents.demand(watchedBy, account, wantedMs),
  );
  await Promise.all([sendMessages(context, messages), ...demands]);
  await tellAgents(context, agents, wantedMs);
}

/** Agents in clusters seldom ask for demands unprompted. */
async function tellAgents(
  { hints }: DemandContext,
  agents: AccountFreshness['agents'],
  wantedMs: number,
): Promise<void> {
  const own = agents.filter(({ watchedBy = '' }) => isCacheOwner(watchedBy));
  const accounts = [...new Set(own.map(({ account }) => account))];
  const id = String(wantedMs);
  await Promise.all(accounts.map((account) => hints?.send({ kind: 'REFRESH', account, id })));
}
