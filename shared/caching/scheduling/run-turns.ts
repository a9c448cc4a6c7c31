import { getErrorMessage } from '#core/errors.ts';
import type { CacheStore } from '../store/cache-store.ts';
import type { CachingAgent } from './caching-agent.ts';
import type { CachingAgentMessage } from './caching-agent-queue.ts';
import { cachingAgentLeaseMs, earlyToleranceMs, getClaimableTurn } from './caching-agent-schedule.ts';
import type { CachingAgentKey, CachingAgentStore, ClaimedCachingAgent } from './caching-agent-store.ts';
import { type RunReporter, reportRuns } from './report-runs.ts';
import { type EndedTurn, runTurn } from './run-turn.ts';
import { type CachingAgentSender, sendMessages } from './send-caching-agents.ts';

/** Milliseconds that an early message waits at most: a process's clock is off by two seconds at most. */
const earlyWaitMaxMs = 5_000;

/** What running caching agents needs. */
export interface CachingAgentSystem extends CachingAgentSender, RunReporter {
  readonly agents: CachingAgentStore;
  readonly cache: CacheStore;
  /** Where this worker runs, shown as the part of a lease's owner behind the `@`. */
  readonly host: string;
}

/** How to run the caching agents of a message. */
export interface RunTurnsOptions {
  /** The caching agent of that name; undefined when no provider has it any more. */
  findAgent(key: CachingAgentKey): CachingAgent | undefined;
  /** Aborted when the worker's time is over. */
  readonly stop: AbortSignal;
}

/**
 * Runs the caching agents of a message, side by side. The scheduler sends for their next turns: a worker sends only for one that must
 * continue at once, alone.
 *
 * Never rejects because of a caching agent or the store: failures are logged, and the scheduler sends for what is overdue.
 */
export async function runTurns(
  system: CachingAgentSystem,
  message: CachingAgentMessage,
  options: RunTurnsOptions,
): Promise<void> {
  await waitForTurn(system, message, options.stop);
  const batch = { system, message, options };
  const runs = await Promise.all(message.agents.map((key) => tryAgent(batch, key)));
  await reportRuns(
    system,
    runs.filter((run) => run !== undefined),
  );
}

interface Batch {
  readonly system: CachingAgentSystem;
  readonly message: CachingAgentMessage;
  readonly options: RunTurnsOptions;
}

/** The sender's clock may be ahead. */
async function waitForTurn(
  { clock }: CachingAgentSystem,
  { dueMs }: CachingAgentMessage,
  stop: AbortSignal,
): Promise<void> {
  const earlyMs = dueMs - earlyToleranceMs - clock.now();
  if (earlyMs > 0) await clock.sleep(Math.min(earlyMs, earlyWaitMaxMs), stop).catch(() => undefined);
}

/** The run that ended; undefined when there was none, or its lease was lost. */
async function tryAgent(batch: Batch, key: CachingAgentKey): Promise<EndedTurn | undefined> {
  const { system, message, options } = batch;
  const isAlone = message.agents.length === 1;
  try {
    const agent = options.findAgent(key);
    if (agent === undefined || (await isFresh(batch, key))) return undefined;
    const claimed = await claim(batch, agent);
    if (claimed === undefined) return undefined;
    const ended = await runTurn(system, agent, { claimed, isAlone, stop: options.stop });
    if (ended?.agent.lastRun?.outcome === 'STOPPED') {
      const { account, name, nextRunMs } = ended.agent;
      await sendMessages(system, [{ agents: [{ account, name }], dueMs: nextRunMs }]);
    }
    return ended;
  } catch (error) {
    system.log.error('an agent could not be run', { ...key, cause: getErrorMessage(error) });
    return undefined;
  }
}

/** Whether another worker has met the demand. */
async function isFresh({ system, message }: Batch, { account }: CachingAgentKey): Promise<boolean> {
  if (!message.isDemanded) return false;
  const { asOfMs = 0 } = (await system.agents.readFreshness([account])).get(account) ?? {};
  return asOfMs >= message.dueMs;
}

function claim({ system, message }: Batch, agent: CachingAgent): Promise<ClaimedCachingAgent | undefined> {
  return system.agents.claim(agent, {
    owner: `${system.randomness.id()}@${system.host}`,
    turn: getClaimableTurn(agent, system.clock.now()),
    leaseMs: cachingAgentLeaseMs,
    demanded: message.isDemanded === true,
    isShared: message.agents.length > 1,
  });
}
