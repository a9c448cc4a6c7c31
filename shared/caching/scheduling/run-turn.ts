import { retry } from '#core/back-off.ts';
import type { Clock, Randomness } from '#core/clock.ts';
import { untilAborted } from '#core/deadline.ts';
import { getErrorMessage } from '#core/errors.ts';
import type { Logger } from '#core/logger.ts';
import type { BusEvent } from '#platform/ports/event-bus.ts';
import { type Hold, holdLease } from '#tasks/hold-lease.ts';
import { LeaseLostError } from '#tasks/task.ts';
import { type CacheStore, isThrottle } from '../store/cache-store.ts';
import type { CachingAgent, CachingResult } from './caching-agent.ts';
import { getNextRunMs } from './caching-agent-schedule.ts';
import type {
  CachingAgentProgress,
  CachingAgentStore,
  ClaimedCachingAgent,
  Finish,
  StoredCachingAgent,
} from './caching-agent-store.ts';

/** Milliseconds that an aborted run gets to end by itself. */
const abortGraceMs = 2_000;

/** Tries to end a run in the store while the store throttles. */
const finishTries = { triesMax: 8, backOff: { firstMs: 200, mostMs: 4_000, fixedShare: 0.5 } };

interface RunSystem {
  readonly agents: Pick<CachingAgentStore, 'renew' | 'commitState' | 'finish'>;
  readonly cache: CacheStore;
  readonly clock: Clock;
  readonly randomness: Randomness;
  readonly log: Logger;
}

/** A caching agent after a run. */
export interface EndedTurn {
  /** As it was when the run began. */
  readonly before: StoredCachingAgent;
  /** As it is now. */
  readonly agent: StoredCachingAgent;
  readonly lagMs: number;
  /** Why it failed. */
  readonly error?: string | undefined;
  /** Other events to publish. */
  readonly events?: readonly BusEvent[];
}

/** What is run. */
export interface RunTurnOptions {
  readonly claimed: ClaimedCachingAgent;
  readonly isAlone: boolean;
  /** Aborted when the worker's time is over. */
  readonly stop: AbortSignal;
}

/**
 * Runs a claimed caching agent, and ends its run. One that wants to list and is not alone, or whose worker is stopped, is to continue at
 * once.
 *
 * @returns the caching agent after it; undefined when the lease was lost: the new owner does the rest.
 */
export async function runTurn(
  system: RunSystem,
  agent: CachingAgent,
  options: RunTurnOptions,
): Promise<EndedTurn | undefined> {
  const { lease } = options.claimed;
  const { clock, agents } = system;
  const startedAt = clock.monotonic();
  await using held = holdLease(lease, {
    clock,
    subject: `agent ${lease.name} of ${lease.account}`,
    durationMs: lease.leaseMs,
    renew: () => agents.renew(lease),
  });
  const ending = await attempt(system, agent, { ...options, held });
  const durationMs = Math.round(clock.monotonic() - startedAt);
  const end = { ...toFinish(system, agent, { ...options, ending }), durationMs };
  const ended = await finish(system, options.claimed, end);
  const events = 'result' in ending ? ending.result.events : undefined;
  return ended && { ...ended, ...(events && { events }) };
}

/** The outcome of a run: a result, or why there is none. */
type Ending =
  | { readonly result: CachingResult }
  | { readonly error: unknown; readonly progress: CachingAgentProgress | undefined };

async function attempt(
  system: RunSystem,
  agent: CachingAgent,
  { claimed, isAlone, stop, held }: RunTurnOptions & { readonly held: Hold },
): Promise<Ending> {
  const { cache, clock, agents, log } = system;
  const over = new AbortController();
  const timer = new AbortController();
  const timeOut = (): void => over.abort(new Error(`given up after ${agent.timeoutMs / 1000} s`));
  clock.sleep(agent.timeoutMs, timer.signal).then(timeOut, () => undefined);
  const signal = AbortSignal.any([held.signal, stop, over.signal]);
  let progress: CachingAgentProgress | undefined;
  const ensureHeld = (): void => {
    held.ensureHeld();
    signal.throwIfAborted();
  };
  try {
    const state = await claimed.readState().catch((error: unknown) => {
      log.warn('what an agent left is damaged: it begins anew', {
        ...toKey(agent),
        cause: getErrorMessage(error),
      });
      return undefined;
    });
    const commitState = async (next: string, told?: CachingAgentProgress): Promise<void> => {
      await agents.commitState(claimed.lease, next, told);
      progress = told ?? progress;
    };
    const running = agent.run({ cache, state, isAlone, signal, ensureHeld, commitState });
    return { result: await untilAborted(running, signal, { clock, ms: abortGraceMs }) };
  } catch (error) {
    return { error: signal.aborted ? signal.reason : error, progress };
  } finally {
    timer.abort();
  }
}

type FinishWithoutDuration = Omit<Finish, 'durationMs'>;

function toFinish(
  { clock, randomness }: RunSystem,
  agent: CachingAgent,
  { claimed, isAlone, stop, ending }: RunTurnOptions & { readonly ending: Ending },
): FinishWithoutDuration {
  const { lastRun, failures } = claimed.agent;
  const { turn, usedAtMs } = claimed.lease;
  const told = 'progress' in ending ? ending.progress : undefined;
  const before: CachingAgentProgress = told ?? { items: lastRun?.items ?? 0, changes: 0 };
  const pace = { nowMs: clock.now(), turn, usedAtMs, fraction: randomness.fraction() };
  const toStopped = (run: typeof before): FinishWithoutDuration => ({
    ...run,
    outcome: 'STOPPED',
    nextRunMs: pace.nowMs,
  });
  const toFailure = (error: string, run = before): FinishWithoutDuration => ({
    ...run,
    outcome: 'FAILURE',
    error,
    nextRunMs: getNextRunMs(agent, { ...pace, failures: failures + 1 }),
  });
  if ('error' in ending) {
    const isStopped = stop.aborted && ending.error === stop.reason;
    return isStopped ? toStopped(before) : toFailure(getErrorMessage(ending.error));
  }
  const { outcome, error, events: _, ...run } = ending.result;
  if (outcome === 'listing' && !isAlone) return toStopped(run);
  const message = outcome === 'listing' ? 'it wants to be run alone, and was' : error;
  if (message !== undefined) return toFailure(message, run);
  return { ...run, outcome: 'SUCCESS', nextRunMs: getNextRunMs(agent, { ...pace, failures: 0 }) };
}

async function finish(
  { agents, log, clock, randomness }: RunSystem,
  { agent: before, lease }: ClaimedCachingAgent,
  end: Finish,
): Promise<EndedTurn | undefined> {
  try {
    const tries = { ...finishTries, clock, randomness, isRetryable: isThrottle };
    const agent = await retry(tries, () => agents.finish(lease, end));
    return { before, agent, lagMs: lease.lagMs, error: end.error };
  } catch (error) {
    if (!(error instanceof LeaseLostError)) throw error;
    log.warn('stopped running an agent', { ...toKey(lease), reason: error.message });
    return undefined;
  }
}

function toKey({ account, name }: { readonly account: string; readonly name: string }) {
  return { account, agent: name };
}
