import { InvalidInputError } from '#core/errors.ts';
import { isJsonObject, type JsonValue } from '#core/json.ts';
import { checkReadable } from './cancel-task.ts';
import { settleTask, type TaskSystem } from './process-message.ts';
import { orchestrationPhase, type Task } from './task.ts';
import { toEndedEntry } from './tell-task.ts';

/**
 * Fails an open task from outside, as Orca does when it believes that the task's worker is gone, and fences that worker out. A finished
 * task stays as it is.
 *
 * @param options.retryable whether the task may be started again.
 * @throws ConflictError for an unreadable task
 */
export async function failTask(
  system: TaskSystem,
  task: Task,
  { retryable }: { readonly retryable: boolean },
): Promise<Task> {
  checkReadable(task);
  const line = { phase: orchestrationPhase, status: 'Orchestration failed: the task was ended by request' };
  const state = retryable ? 'FAILED_RETRYABLE' : 'FAILED';
  const failed = await system.store.fail(task.id, state, toEndedEntry(state, line));
  if (failed === undefined) return task;
  await settleTask(system, failed);
  return failed;
}

/** Whether a task may be started again, by `{"retry": boolean}`. @throws InvalidInputError */
export function parseRetry(body: JsonValue): boolean {
  const retry = isJsonObject(body) ? (body['retry'] ?? false) : undefined;
  if (retry === true || retry === 'true') return true;
  if (retry === false || retry === 'false') return false;
  throw new InvalidInputError('The body must be an object like {"retry": true}');
}
