import { getTask } from '../../../shared/core/tasks/get-task.ts';
import { toTaskView } from '../../../shared/core/tasks/task-view.ts';
import { apiHandler, okText } from '../../../shared/runtime/http/api-handler.ts';
import { openTasks } from '../../../shared/runtime/services/tasks.ts';

/** GET /task/{id}: the task with its history and results, as Orca polls it. */
export const handler = apiHandler(openTasks, async function getTaskById(request, services) {
  const task = await getTask(services.store, request.getParameter('id'));
  request.access.checkTask(task);
  return okText(toTaskView(task));
});
