import { InvalidInputError, NotFoundError } from '../errors.ts';
import type { Task, TaskStore } from './task.ts';

/** Rows of the list of running tasks that are answered at most. */
const runningMax = 500;

/** The task. @throws NotFoundError */
export async function getTask(store: Pick<TaskStore, 'find'>, id: string): Promise<Task> {
  const task = await store.find(id);
  if (task === undefined) throw new NotFoundError(`Task not found (id: ${id})`);
  return task;
}

/** The tasks that are open, oldest first, at most 500. */
export async function listRunningTasks(store: Pick<TaskStore, 'find' | 'listOpen'>): Promise<Task[]> {
  const rows = await store.listOpen(runningMax);
  const tasks = await Promise.all(rows.map((row) => store.find(row.taskId)));
  return tasks.filter(
    (task, index) => task?.state === 'STARTED' && task.openRow === rows[index]?.key,
  ) as Task[];
}

/**
 * Checks that a route that only the Kubernetes provider has was asked for it.
 *
 * @throws InvalidInputError for another provider.
 */
export function checkTaskProvider(cloudProvider: string): void {
  if (cloudProvider === 'kubernetes') return;
  throw new InvalidInputError(`Provider '${cloudProvider}' has no such task route; only kubernetes has`);
}
