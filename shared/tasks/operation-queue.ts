import { isJsonObject } from '#core/json.ts';
import type { Task } from './task.ts';

/** The body of a message: the task to look at. */
export interface TaskMessage {
  readonly taskId: string;
}

/** Parses the body of a message; undefined for any other body. */
export function parseTaskMessage(body: unknown): TaskMessage | undefined {
  if (!isJsonObject(body)) return undefined;
  const { taskId } = body;
  return typeof taskId === 'string' && taskId !== '' ? { taskId } : undefined;
}

/** The queue of operations. A message says that a task waits; the task's record is the truth. */
export interface OperationQueue {
  /** Sends the message for a task. `account` is its fair-queue group: a busy account delays no other. `delaySeconds`: 0 to 900. */
  send(message: { taskId: string; account: string; delaySeconds?: number }): Promise<void>;
  /** Hides a received message for this many seconds from now. */
  extendVisibility(receiptHandle: string, seconds: number): Promise<void>;
}

/** Notifies agents that tasks wait for them. Any hint may be lost: agents also ask by themselves. */
export interface TaskHints {
  /** Notifies agents of an account. Never rejects. @param hint.id the task; empty where an agent is only to ask for work */
  send(hint: { readonly kind: 'TASK'; readonly account: string; readonly id: string }): Promise<void>;
}

/** Notifies those that may run a task that it waits. */
export interface TaskMessages {
  readonly queue: Pick<OperationQueue, 'send'>;
  /** Default: agents get no hints, and ask by themselves. */
  readonly hints?: TaskHints;
}

/** Sends the message for a task, or a hint to its agents where it waits for one. @param delaySeconds as `OperationQueue.send` */
export async function sendForTask(
  { queue, hints }: TaskMessages,
  { id, account, inbox }: Pick<Task, 'id' | 'account' | 'inbox'>,
  delaySeconds = 0,
): Promise<void> {
  if (inbox === undefined) return queue.send({ taskId: id, account, delaySeconds });
  await hints?.send({ kind: 'TASK', account: inbox.account, id });
}
