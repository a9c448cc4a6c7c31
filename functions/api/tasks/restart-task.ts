import { checkTaskProvider } from '../../../shared/core/tasks/get-task.ts';
import { openOperationsContext } from '../../../shared/runtime/context/operations-context.ts';
import { apiHandler } from '../../../shared/runtime/http/api-handler.ts';
import { restartOperations } from '../../../shared/runtime/http/operations-request.ts';

/** POST /{cloudProvider}/task/{id}/restart: runs a failed, retryable task again with the operations in the body. */
export const handler = apiHandler(openOperationsContext, async function restartTaskById(request, context) {
  const cloudProvider = request.getParameter('cloudProvider');
  checkTaskProvider(cloudProvider);
  const id = request.getParameter('id');
  return restartOperations(request, context, { id, body: request.parseJson(), cloudProvider });
});
