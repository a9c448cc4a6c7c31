import { apiHandler, okText } from '#http/api-handler.ts';
import { listRunningTasks } from '#tasks/get-task.ts';
import { openTasks } from '#tasks/services/tasks.ts';
import { toTaskView } from '#tasks/task-view.ts';

/** GET /task: the running tasks of accounts that the caller may read, oldest first. */
export const handler = apiHandler(openTasks, async function listTasks(request, services) {
  const running = await listRunningTasks(services.store);
  const tasks = running.filter((task) => request.access.mayReadTask(task));
  return okText(`[${tasks.map((task) => toTaskView(task, services.clock.now())).join(',')}]`);
});
