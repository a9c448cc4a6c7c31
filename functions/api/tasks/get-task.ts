import { getTask } from '../../../shared/core/tasks/get-task.ts';
import { toTaskView } from '../../../shared/core/tasks/task-view.ts';
import { openTaskContext } from '../../../shared/runtime/context/task-context.ts';
import { apiHandler, okText } from '../../../shared/runtime/http/api-handler.ts';

/** GET /task/{id}: the task with its history and results, as Orca polls it. */
export const handler = apiHandler(openTaskContext, async function getTaskById(request, context) {
  const task = await getTask(context.store, request.getParameter('id'));
  request.access.checkTask(task);
  return okText(toTaskView(task));
});
