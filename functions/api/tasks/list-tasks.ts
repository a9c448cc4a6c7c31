import { listRunningTasks } from '../../../shared/core/tasks/get-task.ts';
import { toTaskView } from '../../../shared/core/tasks/task-view.ts';
import { openTaskContext } from '../../../shared/runtime/context/task-context.ts';
import { apiHandler, okText } from '../../../shared/runtime/http/api-handler.ts';

/** GET /task: the running tasks of accounts that the caller may read, oldest first. */
export const handler = apiHandler(openTaskContext, async function listTasks(request, context) {
  const running = await listRunningTasks(context.store);
  const tasks = running.filter((task) => request.access.mayReadTask(task));
  return okText(`[${tasks.map(toTaskView).join(',')}]`);
});
