import { NotFoundError } from '#core/errors.ts';
import type { Task, TaskStore } from './task.ts';

/** Rows in the list of running tasks at most. */
const runningMax = 500;

/** The task. @throws NotFoundError */
export async function getTask(store: Pick<TaskStore, 'find'>, id: string): Promise<Task> {
  const task = await store.find(id);
  if (task === undefined) throw new NotFoundError(`Task not found (id: ${id})`);
  return task;
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
