import { type BackOff, getLongestPauseMs } from '#core/back-off.ts';
import type { Clock } from '#core/clock.ts';
import { waits } from '#core/deadline.ts';
import { NotFoundError } from '#core/errors.ts';
import { isFinished, type Task, type TaskStore } from './task.ts';

/** Rows in the list of running tasks at most. */
const runningMax = 500;

/** The task. @throws NotFoundError */
export async function getTask(store: Pick<TaskStore, 'find'>, id: string): Promise<Task> {
  const task = await store.find(id);
  if (task === undefined) throw new NotFoundError(`Task not found (id: ${id})`);
  return task;
}

/** Seconds for which a caller waits for a task's end at most: a function that reads has no more time. */
export const waitSecondsMax = 20;

/** Pauses between two looks at a task: most end within a second. */
const lookBackOff: BackOff = { firstMs: 50, mostMs: 1_000, growth: 1.5 };

/**
 * Waits until a task has ended, its time is over, or the signal is aborted. Later looks read no more than the task's state.
 *
 * @returns the task as it is then
 */
export async function awaitEnd(
  { store, clock }: { readonly store: Pick<TaskStore, 'find' | 'findStatus'>; readonly clock: Clock },
  task: Task,
  { seconds, signal }: { readonly seconds: number; readonly signal: AbortSignal },
): Promise<Task> {
  const endMs = clock.monotonic() + seconds * 1_000;
  let status: Pick<Task, 'state'> = task;
  for (let look = 1; !isFinished(status); look += 1) {
    const leftMs = endMs - clock.monotonic();
    if (leftMs <= 0 || task.unreadable !== undefined) break;
    if (!(await waits(clock, Math.min(leftMs, getLongestPauseMs(lookBackOff, look)), signal))) break;
    status = (await store.findStatus(task.id)) ?? status;
  }
  return seconds === 0 ? task : getTask(store, task.id);
}

/** Open and unreadable tasks, oldest first, at most 500. */
export async function listRunningTasks(store: Pick<TaskStore, 'find' | 'listOpen'>): Promise<Task[]> {
  const rows = await store.listOpen(runningMax);
  const tasks = await Promise.all(rows.map((row) => store.find(row.taskId)));
  return tasks.filter(
    (task, index) =>
      task?.unreadable !== undefined || (task?.state === 'STARTED' && task.openRow === rows[index]?.key),
  ) as Task[];
}
