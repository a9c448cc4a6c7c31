import type { ConcurrencyLimit } from '#core/concurrency.ts';
import type { CachingAgent } from '../caching-agent.ts';
import { getClaimableTurn } from '../caching-agent-schedule.ts';
import type { CachingAgentKey, CachingAgentStore, ClaimedCachingAgent } from '../caching-agent-store.ts';
import type { CachingAgentSystem } from '../run-turns.ts';
import type { StreamedCachingAgent, StreamQueue } from './stream-queue.ts';

/** Milliseconds of the lease on a watched caching agent: for so long after its worker died none other takes it. */
export const streamLeaseMs = 45_000;

/** What watching caching agents needs. */
export interface StreamSystem extends Omit<CachingAgentSystem, 'agentQueue'> {
  readonly streams: StreamQueue;
}

/** A worker that watches caching agents, as each of them sees it. */
export interface StreamWorker extends Omit<StreamSystem, 'agents'> {
  readonly agents: Pick<CachingAgentStore, 'claim' | 'renew' | 'commitState' | 'finish'>;
  /** Owner of its leases. */
  readonly owner: string;
  /** Limits calls to the store of caching agents: all of the worker's share it. */
  readonly limit: ConcurrencyLimit;
  /** Aborted when its time is over. */
  readonly stop: AbortSignal;
  /** Aborted when a successor was sent for. */
  readonly relieved: AbortSignal;
  /** The caching agent by the current configuration; undefined when no account lets it be watched. */
  findAgent(key: CachingAgentKey): CachingAgent | undefined;
  /** Whether a watch ended only as the stores were unavailable: that is no failure, and it begins again at once. Default: never. */
  isAway?(error: unknown): boolean;
}

/**
 * Takes the lease on a caching agent, at once and whether it is due or not: from the owner that hands it over, or else if it is free.
 * Undefined when another owner has it.
 *
 * @param onHeld called with the end of another's lease, milliseconds since the epoch
 */
export async function claimCachingAgent(
  { account, name, handedOverBy }: StreamedCachingAgent,
  { agents, owner, findAgent, clock }: StreamWorker,
  onHeld?: (untilMs: number) => void,
): Promise<ClaimedCachingAgent | undefined> {
  const key = { account, name };
  const intervalMs = findAgent(key)?.intervalMs ?? 1;
  const turn = getClaimableTurn({ ...key, intervalMs }, clock.now());
  const options = { owner, turn, leaseMs: streamLeaseMs, demanded: true, ...(onHeld && { onHeld }) };
  const handedOver = handedOverBy && (await agents.claim(key, { ...options, handedOverBy }));
  // The predecessor may have given it up, or died long ago.
  const claimed = handedOver || (await agents.claim(key, options));
  if (claimed === undefined) return undefined;
  if (claimed.agent.mode?.mode !== 'interval') return withoutDueTime(claimed, clock.now());
  // It was put into this mode while the message was on its way.
  const { items = 0 } = claimed.agent.lastRun ?? {};
  const nextRunMs = clock.now();
  await agents.finish(claimed.lease, { outcome: 'STOPPED', durationMs: 0, items, changes: 0, nextRunMs });
  return undefined;
}

/** A watched caching agent is always due: it is late only by the time for which no worker watched it. */
function withoutDueTime(claimed: ClaimedCachingAgent, nowMs: number): ClaimedCachingAgent {
  const { agent, lease } = claimed;
  const lagMs = Math.min(lease.lagMs, Math.max(0, nowMs - (agent.asOfMs ?? 0)));
  return { ...claimed, lease: { ...lease, lagMs } };
}
