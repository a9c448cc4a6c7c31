import type { BusEvent } from '#platform/ports/event-bus.ts';
import type { Task } from './task.ts';

/** Types of the events that go to the bus (EventBridge's `detail-type`). */
export type TaskEventType = 'TaskAccepted' | 'TaskStepCompleted' | 'TaskCompleted' | 'TaskFailed';

/** Accounts of a task that its events tell: an event has a limit. */
export const eventAccountsMax = 100;

/** Names of operations that the event of an accepted task tells. */
export const eventOperationsMax = 20;

/** An event about a task. `more` adds what the type of event has besides. */
export function toTaskEvent(
  task: Task,
  event: { type: TaskEventType; atMs: number; more?: { readonly [key: string]: unknown } },
): BusEvent {
  const detail = {
    taskId: task.id,
    account: task.account,
    accounts: task.accounts.slice(0, eventAccountsMax),
    requestId: task.requestId,
    acceptedAtMs: task.acceptedAtMs,
    ...task.caller,
    ...event.more,
  };
  return { type: event.type, atMs: event.atMs, detail };
}

/** The event that tells a finished task's end. */
export function toEndEvent(task: Task, atMs: number): BusEvent {
  const type = task.state === 'COMPLETED' ? 'TaskCompleted' : 'TaskFailed';
  return toTaskEvent(task, { type, atMs, more: { state: task.state, endedAtMs: atMs } });
}
