import type { BusEvent } from '#platform/ports/event-bus.ts';
import type { Task } from './task.ts';

/** Types of the events that go to the bus (EventBridge's `detail-type`). */
export type TaskEventType = 'TaskAccepted' | 'TaskStepCompleted' | 'TaskCompleted' | 'TaskFailed';

/** Accounts that a task's events name at most: an event has a size limit. */
export const eventAccountsMax = 100;

/** Names of operations, of applications and of objects in the event of an accepted task at most. */
export const eventOperationsMax = 20;

/** An event about a task. `more` has the members of its type. */
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

/** The event of a finished task's end. */
export function toEndEvent(task: Task, atMs: number): BusEvent {
  const type = task.state === 'COMPLETED' ? 'TaskCompleted' : 'TaskFailed';
  return toTaskEvent(task, { type, atMs, more: { state: task.state, endedAtMs: atMs } });
}
