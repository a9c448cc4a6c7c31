import {
  type CacheLease,
  type CacheProgressMessage,
  claimedSchema,
  keptSchema,
} from '#agents/protocol/cache-messages.ts';
import type {
  CachingAgentKey,
  CachingAgentLease,
  CachingAgentProgress,
  CachingAgentStore,
  ClaimedCachingAgent,
  ClaimOptions,
  Finish,
  StoredCachingAgent,
} from '#caching/scheduling/caching-agent-store.ts';
import type { Clock } from '#core/clock.ts';
import { LeaseLostError } from '#tasks/task.ts';
import { HubAwayError } from '../hub/hub-client.ts';
import type { AgentMetrics } from '../status/agent-metrics.ts';
import { type CacheCalls, CacheHeldError } from './cache-calls.ts';

/** The part of the store of caching agents that a watch uses. */
export interface WatchedAgentStore
  extends Pick<CachingAgentStore, 'claim' | 'renew' | 'commitState' | 'finish'> {
  /** Gives up the claims that are under way: each rejects with `HubAwayError`. Busdriver may grant them yet, and grants the next one again. */
  giveUpClaims(): void;
}

/** Dependencies of the store. */
export interface RemoteAgentStoreOptions {
  readonly calls: CacheCalls;
  readonly clock: Clock;
  readonly metrics: Pick<AgentMetrics, 'setWatches'>;
}

/** The store of caching agents as an agent in a cluster has it: Busdriver makes each call one conditional write. */
export class RemoteAgentStore implements WatchedAgentStore {
  readonly #options: RemoteAgentStoreOptions;
  /** How agents were when they were claimed: their end says little of them. */
  readonly #claimed = new WeakMap<CachingAgentLease, StoredCachingAgent>();
  #lastAskedMs = 0;
  #claims = new AbortController();

  constructor(options: RemoteAgentStoreOptions) {
    this.#options = options;
  }

  async claim(
    key: CachingAgentKey,
    { owner, leaseMs, onHeld }: ClaimOptions,
  ): Promise<ClaimedCachingAgent | undefined> {
    const { calls, clock } = this.#options;
    const validUntil = clock.monotonic() + leaseMs;
    this.#lastAskedMs = Math.max(this.#lastAskedMs + 1, clock.now());
    const body = { agent: key.name, askedMs: this.#lastAskedMs };
    const { signal } = this.#claims;
    const answer = await calls
      .callOnce(key.account, { method: 'POST', what: 'claims', body, signal })
      .catch((error: unknown) => {
        if (!(error instanceof CacheHeldError)) throw error;
        if (error.nextRunMs !== undefined) onHeld?.(error.nextRunMs);
        return undefined;
      });
    if (answer === undefined) return undefined;
    const { lease: told, agent: before, state } = claimedSchema.parse(answer);
    const lease: CachingAgentLease = { ...key, owner, leaseMs, validUntil, ...fromMessage(told) };
    const agent = toAgent(key, lease, before);
    this.#claimed.set(lease, agent);
    return { agent, lease, readState: async () => state };
  }

  giveUpClaims(): void {
    this.#claims.abort(new HubAwayError('the claim was given up: there is another connection'));
    this.#claims = new AbortController();
  }

  async renew(lease: CachingAgentLease, progress?: CachingAgentProgress): Promise<void> {
    await this.#keep(lease, { progress });
  }

  async commitState(lease: CachingAgentLease, state: string, progress?: CachingAgentProgress): Promise<void> {
    await this.#keep(lease, { state, progress });
  }

  async finish(lease: CachingAgentLease, finish: Finish): Promise<StoredCachingAgent> {
    const { outcome, durationMs, nextRunMs, error, state, ...progress } = finish;
    const nowMs = this.#options.clock.now();
    const nextRunInMs = Math.max(0, Math.round(nextRunMs - nowMs));
    const end = { outcome, durationMs: Math.round(durationMs), nextRunInMs, error: error?.slice(0, 2_000) };
    const { failures = 0 } = await this.#keep(lease, { end, state, progress });
    const before = this.#claimed.get(lease) ?? toAgent(lease, lease, noneBefore);
    const { startedAtMs, lagMs } = lease;
    const lastRun = { ...progress, outcome, durationMs, startedAtMs, lagMs };
    return { ...before, failures, lastRun, nextRunMs, asOfMs: progress.asOfMs ?? before.asOfMs };
  }

  /** @throws LeaseLostError when another agent has it */
  async #keep(
    lease: CachingAgentLease,
    message: Omit<CacheProgressMessage, 'agent' | 'lease' | 'progress'> & {
      readonly progress?: CachingAgentProgress | undefined;
    },
  ): Promise<{ readonly failures?: number | undefined }> {
    const { calls, clock, metrics } = this.#options;
    const validUntil = clock.monotonic() + lease.leaseMs;
    const { progress: { details, ...told } = {}, ...others } = message;
    const progress = message.progress && { ...told, ...(details && { details: JSON.stringify(details) }) };
    const body = { agent: lease.name, lease: toMessage(lease), ...others, progress };
    const answer = await calls
      .callOnce(lease.account, { method: 'PUT', what: 'claims', body })
      .catch((error: unknown) => {
        throw error instanceof CacheHeldError ? new LeaseLostError(error.message) : error;
      });
    const kinds = details?.['kinds'];
    if (typeof kinds === 'number') metrics.setWatches(lease.account, lease.name, kinds);
    const { lease: kept, failures } = keptSchema.parse(answer);
    Object.assign(lease, { stateWrites: kept.stateWrites, hasChunks: kept.hasChunks });
    lease.validUntil = Math.max(lease.validUntil, validUntil);
    return { failures };
  }
}

const noneBefore = { intervalMs: 0, failures: 0, items: 0, hasRun: false };

function toAgent(
  { account, name }: CachingAgentKey,
  { turn, usedAtMs, startedAtMs, lagMs }: CachingAgentLease,
  before: {
    intervalMs: number;
    failures: number;
    items: number;
    hasRun: boolean;
    asOfMs?: number | undefined;
  },
): StoredCachingAgent {
  const { intervalMs, failures, items, hasRun, asOfMs } = before;
  const lastRun = { outcome: 'STOPPED', durationMs: 0, items, changes: 0, startedAtMs, lagMs } as const;
  return {
    ...{ account, name, provider: '', intervalMs, failures, asOfMs, usedAtMs },
    lastTurn: turn,
    nextRunMs: startedAtMs,
    attempts: 1,
    ...(hasRun && { lastRun }),
  };
}

function fromMessage({ startedMs: startedAtMs, usedMs: usedAtMs, ...lease }: CacheLease) {
  return { ...lease, startedAtMs, usedAtMs };
}

function toMessage(lease: CachingAgentLease): CacheLease {
  const { fence, turn, startedAtMs, lagMs, usedAtMs, stateWrites, hasChunks } = lease;
  return { fence, turn, startedMs: startedAtMs, lagMs, usedMs: usedAtMs, stateWrites, hasChunks };
}
