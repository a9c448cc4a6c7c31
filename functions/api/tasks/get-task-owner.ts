import { checkTaskProvider, getTask } from '../../../shared/core/tasks/get-task.ts';
import { openTaskContext } from '../../../shared/runtime/context/task-context.ts';
import { apiHandler, ok } from '../../../shared/runtime/http/api-handler.ts';

/** GET /{cloudProvider}/task/{id}/owner: the host that ran the task last; empty when none did yet. */
export const handler = apiHandler(openTaskContext, async function getTaskOwner(request, context) {
  checkTaskProvider(request.getParameter('cloudProvider'));
  const task = await getTask(context.store, request.getParameter('id'));
  request.access.checkTask(task);
  const { ownerId } = task;
  return ok({ name: ownerId.slice(ownerId.indexOf('@') + 1) });
});
