import type { BusEvent } from '#platform/ports/event-bus.ts';
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

function toEvent(type: CachingAgentEventType, atMs: number, detail: BusEvent['detail']): BusEvent {
  return { type, atMs, detail };
}
