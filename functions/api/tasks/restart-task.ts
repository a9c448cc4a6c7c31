import { apiHandler } from '#http/api-handler.ts';
import { restartOperations } from '#tasks/http/operations-request.ts';
import { checkTaskProvider } from '#tasks/http/task-provider.ts';
import { openOperations } from '#tasks/services/operations.ts';

/** POST /{cloudProvider}/task/{id}/restart: runs a failed, retryable task again with the operations in the body. */
export const handler = apiHandler(openOperations, async function restartTaskById(request, services) {
  const cloudProvider = request.getParameter('cloudProvider');
  checkTaskProvider(cloudProvider);
  const id = request.getParameter('id');
  return restartOperations(request, services, { id, body: request.parseJson(), cloudProvider });
});
