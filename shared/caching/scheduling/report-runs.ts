import type { Logger } from '#core/logger.ts';
import type { EventBus } from '#platform/ports/event-bus.ts';
import { publishEvents, toRunEvent } from './caching-agent-events.ts';
import { countTooLarge } from './caching-agent-store.ts';
import type { EndedTurn } from './run-turn.ts';

/** Where runs are reported. */
export interface RunReporter {
  readonly bus: EventBus;
  readonly log: Logger;
  /** Takes how much later runs began than they were due, milliseconds: for a metric. */
  recordLags(lagsMs: readonly number[]): void;
  /** Takes runs that ended. Default: nobody does. */
  recordRuns?(runs: readonly EndedTurn[]): void;
  /** Takes the numbers of objects and applications too large to be cached, one for each run that found some: for a metric. */
  recordTooLarge(counts: readonly number[]): void;
}

/**
 * Reports runs that ended: how late they were, and in the log and on the bus those that changed something, failed, or succeeded again; on
 * the bus also their other events. Never rejects: an event that cannot be published is lost and logged.
 */
export async function reportRuns(reporter: RunReporter, runs: readonly EndedTurn[]): Promise<void> {
  if (runs.length > 0) reporter.recordLags(runs.map(({ lagMs }) => lagMs));
  reporter.recordRuns?.(runs);
  const counts = runs.map(({ agent }) => countTooLarge(agent)).filter((count) => count > 0);
  if (counts.length > 0) reporter.recordTooLarge(counts);
  const told = runs.filter(isTold);
  for (const run of told) logRun(reporter.log, run);
  const events = [...told.map(toRunEvent), ...runs.flatMap((run) => run.events ?? [])];
  await publishEvents(reporter, events, 'events of agents');
}

/** An idle run costs less than its event would. A stopped run goes on, and is reported when it ends. */
function isTold({ before, agent: { lastRun } }: EndedTurn): boolean {
  if (lastRun === undefined || lastRun.outcome === 'STOPPED') return false;
  return lastRun.outcome === 'FAILURE' || lastRun.changes > 0 || before.failures > 0;
}

function logRun(log: Logger, { agent, error }: EndedTurn): void {
  const { account, name, failures, lastRun, nextRunMs } = agent;
  const fields = { account, agent: name, ...lastRun };
  if (error === undefined) log.info('an agent brought the cache up to date', fields);
  else log.warn('an agent failed', { ...fields, error, failures, nextRunMs });
}
