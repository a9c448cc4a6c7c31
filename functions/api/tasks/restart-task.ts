import { parseOperations, restartTask } from '../../../shared/core/accept-operations.ts';
import { checkTaskProvider, getTask } from '../../../shared/core/get-task.ts';
import { apiHandler, ok } from '../../../shared/runtime/api-handler.ts';
import { openTaskContext } from '../../../shared/runtime/task-context.ts';
import { toTaskReference } from '../../../shared/runtime/task-reference.ts';

/** POST /{cloudProvider}/task/{id}/restart: runs a failed, retryable task again with the operations in the body. */
export const handler = apiHandler(openTaskContext, async function restartTaskById(request, context) {
  const cloudProvider = request.getParameter('cloudProvider');
  checkTaskProvider(cloudProvider);
  const operations = parseOperations({ body: request.parseJson(), cloudProvider });
  const task = await getTask(context.store, request.getParameter('id'));
  return ok(toTaskReference(await restartTask(context, task, operations)));
});
