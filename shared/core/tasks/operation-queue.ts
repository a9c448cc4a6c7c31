import { isJsonObject } from '../json.ts';

/** The body of a message: look at this task. */
export interface TaskHint {
  readonly taskId: string;
}

/** The hint that a message's body is; undefined when it is none. */
export function parseTaskHint(body: unknown): TaskHint | undefined {
  const taskId = isJsonObject(body) ? body['taskId'] : undefined;
  return typeof taskId === 'string' && taskId !== '' ? { taskId } : undefined;
}

/** The queue of operations. A message is a hint that a task waits; the task's record is the truth. */
export interface OperationQueue {
  /**
   * Sends the hint for a task.
   *
   * @param hint.account fair-queue group: a busy account does not delay the others.
   * @param hint.delaySeconds 0 to 900.
   */
  send(hint: { taskId: string; account: string; delaySeconds?: number }): Promise<void>;
  /** Hides a received message for that many seconds from now. */
  extendVisibility(receiptHandle: string, seconds: number): Promise<void>;
}
