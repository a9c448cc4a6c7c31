import { getErrorMessage } from '#core/errors.ts';
import type { Logger } from '#core/logger.ts';
import type { BusEvent, EventBus } from '#platform/ports/event-bus.ts';
import type { EndedTurn } from './run-turn.ts';

/** Types of the events about caching (EventBridge's `detail-type`). */
export type CachingAgentEventType = 'AgentRunCompleted' | 'AccountChanged';

/** An event about a run that ended. It leaves out the message of a failure, which may quote a cluster's answer. */
export function toRunEvent({ agent }: EndedTurn): BusEvent {
  const { account, name, provider, failures, lastRun, nextRunMs } = agent;
  const { startedAtMs = 0, durationMs = 0, outcome, items, changes, lagMs, asOfMs, drift } = lastRun ?? {};
  const run = { outcome, startedAtMs, durationMs, items, changes, lagMs, asOfMs, drift };
  return toEvent('AgentRunCompleted', startedAtMs + durationMs, {
    ...{ account, agent: name, provider },
    ...run,
    ...{ failures, nextRunMs },
  });
}

/** An event that says that the caching agents of an account were added, or taken out of service. */
export function toAccountEvent(
  account: string,
  {
    atMs,
    ...change
  }: { readonly atMs: number; readonly added: readonly string[]; readonly removed: readonly string[] },
): BusEvent {
  return toEvent('AccountChanged', atMs, { account, ...change });
}

/** Publishes events, if there are any. Never rejects: what cannot be published is lost and logged. @param what they are, for the log */
export async function publishEvents(
  { bus, log }: { readonly bus: EventBus; readonly log: Logger },
  events: readonly BusEvent[],
  what: 'events of agents' | 'events of accounts',
): Promise<void> {
  if (events.length === 0) return;
  try {
    await bus.publish(events);
  } catch (error) {
    log.warn(`${what} could not be published`, { cause: getErrorMessage(error) });
  }
}

function toEvent(type: CachingAgentEventType, atMs: number, detail: BusEvent['detail']): BusEvent {
  return { type, atMs, detail };
}
