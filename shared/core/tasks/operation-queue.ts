import { asString, isJsonObject } from '../json.ts';
import type { Hints } from './agent-connections.ts';
import type { Task } from './task.ts';

/** The body of a message: look at this task. */
export interface TaskMessage {
  readonly taskId: string;
  /** The account of its first operation; undefined in messages of an earlier version. */
  readonly account?: string;
  /** When it was accepted, wall time in ms; undefined in messages of an earlier version. */
  readonly acceptedAtMs?: number;
}

/** Parses the body of a message; undefined when it is none. */
export function parseTaskMessage(body: unknown): TaskMessage | undefined {
  if (!isJsonObject(body)) return undefined;
  const { taskId, acceptedAtMs } = body;
  const account = asString(body['account']);
  if (typeof taskId !== 'string' || taskId === '') return undefined;
  return {
    taskId,
    ...(account !== undefined && { account }),
    ...(typeof acceptedAtMs === 'number' && { acceptedAtMs }),
  };
}

/** The queue of operations. A message says that a task waits; the task's record is the truth. */
export interface OperationQueue {
  /**
   * Sends the message for a task.
   *
   * @param message.account fair-queue group: a busy account does not delay the others.
   * @param message.acceptedAtMs when the task was accepted: for so long it may have waited for its cluster.
   * @param message.delaySeconds 0 to 900.
   */
  send(message: {
    taskId: string;
    account: string;
    acceptedAtMs?: number;
    delaySeconds?: number;
  }): Promise<void>;
  /** Hides a received message for that many seconds from now. */
  extendVisibility(receiptHandle: string, seconds: number): Promise<void>;
}

/** What tells who may run a task that it waits. */
export interface TaskMessages {
  readonly queue: Pick<OperationQueue, 'send'>;
  /** Default: agents are not told, and look for themselves. */
  readonly hints?: Hints;
}

/** Sends the message for a task. One that waits for an agent has none: its agents get a hint. */
export async function sendForTask(
  { queue, hints }: TaskMessages,
  { id, account, acceptedAtMs, inbox }: Pick<Task, 'id' | 'account' | 'acceptedAtMs' | 'inbox'>,
): Promise<void> {
  if (inbox === undefined) return queue.send({ taskId: id, account, acceptedAtMs });
  await hints?.send({ kind: 'TASK', account: inbox.account, id });
}
