import { apiHandler } from '#http/api-handler.ts';
import { startOperations } from '#tasks/http/operations-request.ts';
import { openOperations } from '#tasks/services/operations.ts';

/** POST /{cloudProvider}/ops: accepts a list of operations as one task. */
export const handler = apiHandler(openOperations, async function startProviderOperations(request, services) {
  const cloudProvider = request.getParameter('cloudProvider');
  return startOperations(request, services, { body: request.parseJson(), cloudProvider });
});
