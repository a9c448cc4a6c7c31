import { checkTaskProvider } from '../../../shared/core/tasks/get-task.ts';
import { apiHandler } from '../../../shared/runtime/api-handler.ts';
import { openOperationsContext } from '../../../shared/runtime/operations-context.ts';
import { restartOperations } from '../../../shared/runtime/operations-request.ts';

/** POST /{cloudProvider}/task/{id}/restart: runs a failed, retryable task again with the operations in the body. */
export const handler = apiHandler(openOperationsContext, async function restartTaskById(request, context) {
  const cloudProvider = request.getParameter('cloudProvider');
  checkTaskProvider(cloudProvider);
  const id = request.getParameter('id');
  return restartOperations(request, context, { id, body: request.parseJson(), cloudProvider });
});
