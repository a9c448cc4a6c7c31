import { ConflictError } from '#core/errors.ts';
import { settleTask, type TaskSystem } from './process-message.ts';
import { isFinished, type Task } from './task.ts';

/**
 * Cancels a task. One that no worker holds ends at once, failed and not retryable; one under way before its next step. A finished one stays
 * as it is.
 *
 * @param user who asks for it
 * @returns the task as it is then; undefined where it had ended before
 */
export async function cancelTask(system: TaskSystem, id: string, user: string): Promise<Task | undefined> {
  const cancelled = await system.store.cancel(id, user);
  if (cancelled !== undefined && isFinished(cancelled)) await settleTask(system, cancelled);
  return cancelled;
}

/** @throws ConflictError for an unreadable task: it cannot be changed. */
export function checkReadable({ id, unreadable }: Pick<Task, 'id' | 'unreadable'>): void {
  if (unreadable === undefined) return;
  throw new ConflictError(`Task ${id} cannot be read, and stays as it is: ${unreadable}`);
}
