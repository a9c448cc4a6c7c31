import type { TaskOwnerView } from '../../../shared/contract/answers/tasks.ts';
import { getTask } from '../../../shared/core/tasks/get-task.ts';
import { apiHandler, ok } from '../../../shared/runtime/http/api-handler.ts';
import { checkTaskProvider } from '../../../shared/runtime/http/task-provider.ts';
import { openTasks } from '../../../shared/runtime/services/tasks.ts';

/** GET /{cloudProvider}/task/{id}/owner: the host that ran the task last; empty when none did yet. */
export const handler = apiHandler(openTasks, async function getTaskOwner(request, services) {
  checkTaskProvider(request.getParameter('cloudProvider'));
  const task = await getTask(services.store, request.getParameter('id'));
  request.access.checkTask(task);
  const { ownerId } = task;
  return ok<TaskOwnerView>({ name: ownerId.slice(ownerId.indexOf('@') + 1) });
});
