import type { TaskOwnerView } from '#contract/answers/tasks.ts';
import { apiHandler, ok } from '#http/api-handler.ts';
import { getTask } from '#tasks/get-task.ts';
import { checkTaskProvider } from '#tasks/http/task-provider.ts';
import { openTasks } from '#tasks/services/tasks.ts';

/** GET /{cloudProvider}/task/{id}/owner: the host that ran the task last; empty when none did yet. */
export const handler = apiHandler(openTasks, async function getTaskOwner(request, services) {
  checkTaskProvider(request.getParameter('cloudProvider'));
  const task = await getTask(services.store, request.getParameter('id'));
  request.access.checkTask(task);
  const { ownerId } = task;
  return ok<TaskOwnerView>({ name: ownerId.slice(ownerId.indexOf('@') + 1) });
});
