import { apiHandler, okText } from '#http/api-handler.ts';
import { cancelTask, checkReadable } from '#tasks/cancel-task.ts';
import { getTask } from '#tasks/get-task.ts';
import { openTasks } from '#tasks/services/tasks.ts';
import { toTaskView } from '#tasks/task-view.ts';

/** DELETE /task/{id}: cancels a task. A worker that has it stops before its next step; a finished one stays as it is. */
export const handler = apiHandler(openTasks, async function cancelTaskById(request, services) {
  const task = await getTask(services.store, request.getParameter('id'));
  request.access.checkTask(task);
  checkReadable(task);
  const cancelled = await cancelTask(services, task.id, request.access.identity.user ?? 'anonymous');
  return okText(toTaskView(cancelled ?? (await getTask(services.store, task.id)), services.clock.now()));
});
