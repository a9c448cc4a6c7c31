import { isJsonObject } from '#core/json.ts';
import type { Task } from './task.ts';

/** The body of a message: look at this task. */
export interface TaskMessage {
  readonly taskId: string;
}

/** Parses the body of a message; undefined when it is none. */
export function parseTaskMessage(body: unknown): TaskMessage | undefined {
  if (!isJsonObject(body)) return undefined;
  const { taskId } = body;
  return typeof taskId === 'string' && taskId !== '' ? { taskId } : undefined;
}

/** The queue of operations. A message says that a task waits; the task's record is the truth. */
export interface OperationQueue {
  /**
   * Sends the message for a task.
   *
   * @param message.account fair-queue group: a busy account does not delay the others.
   * @param message.delaySeconds 0 to 900.
   */
  send(message: { taskId: string; account: string; delaySeconds?: number }): Promise<void>;
  /** Hides a received message for that many seconds from now. */
  extendVisibility(receiptHandle: string, seconds: number): Promise<void>;
}

/** Tells agents that tasks wait for them. Any hint may be lost: agents ask by themselves as well. */
export interface TaskHints {
  /** Tells agents of an account. Never rejects. @param hint.id the task; empty where an agent is only to ask for work */
  send(hint: { readonly kind: 'TASK'; readonly account: string; readonly id: string }): Promise<void>;
}

/** What tells who may run a task that it waits. */
export interface TaskMessages {
  readonly queue: Pick<OperationQueue, 'send'>;
  /** Default: agents are not told, and look for themselves. */
  readonly hints?: TaskHints;
}

/**
 * Sends the message for a task. One that waits for an agent has none: its agents get a hint.
 *
 * @param delaySeconds as `OperationQueue.send`. Default 0.
 */
export async function sendForTask(
  { queue, hints }: TaskMessages,
  { id, account, inbox }: Pick<Task, 'id' | 'account' | 'inbox'>,
  delaySeconds = 0,
): Promise<void> {
  if (inbox === undefined) return queue.send({ taskId: id, account, delaySeconds });
  await hints?.send({ kind: 'TASK', account: inbox.account, id });
}
