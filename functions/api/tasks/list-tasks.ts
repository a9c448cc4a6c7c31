import { listRunningTasks } from '../../../shared/core/get-task.ts';
import { toTaskView } from '../../../shared/core/task-view.ts';
import { apiHandler, okText } from '../../../shared/runtime/api-handler.ts';
import { openTaskContext } from '../../../shared/runtime/task-context.ts';

/** GET /task: the running tasks, oldest first. */
export const handler = apiHandler(openTaskContext, async function listTasks(_request, context) {
  const tasks = await listRunningTasks(context.store);
  return okText(`[${tasks.map(toTaskView).join(',')}]`);
});
