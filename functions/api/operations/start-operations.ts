import { apiHandler } from '../../../shared/runtime/http/api-handler.ts';
import { startOperations } from '../../../shared/runtime/http/operations-request.ts';
import { openOperations } from '../../../shared/runtime/services/operations.ts';

/** POST /{cloudProvider}/ops: accepts a list of operations as one task. */
export const handler = apiHandler(openOperations, async function startProviderOperations(request, services) {
  const cloudProvider = request.getParameter('cloudProvider');
  return startOperations(request, services, { body: request.parseJson(), cloudProvider });
});
