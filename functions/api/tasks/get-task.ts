import { apiHandler, okText } from '#http/api-handler.ts';
import { getTask } from '#tasks/get-task.ts';
import { openTasks } from '#tasks/services/tasks.ts';
import { toTaskView } from '#tasks/task-view.ts';

/** GET /task/{id}: the task with its history and results, as Orca polls it. */
export const handler = apiHandler(openTasks, async function getTaskById(request, services) {
  const task = await getTask(services.store, request.getParameter('id'));
  request.access.checkTask(task);
  return okText(toTaskView(task, services.clock.now()));
});
