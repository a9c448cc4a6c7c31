import { listRunningTasks } from '../../../shared/core/tasks/get-task.ts';
import { toTaskView } from '../../../shared/core/tasks/task-view.ts';
import { apiHandler, okText } from '../../../shared/runtime/http/api-handler.ts';
import { openTasks } from '../../../shared/runtime/services/tasks.ts';

/** GET /task: the running tasks of accounts that the caller may read, oldest first. */
export const handler = apiHandler(openTasks, async function listTasks(request, services) {
  const running = await listRunningTasks(services.store);
  const tasks = running.filter((task) => request.access.mayReadTask(task));
  return okText(`[${tasks.map(toTaskView).join(',')}]`);
});
