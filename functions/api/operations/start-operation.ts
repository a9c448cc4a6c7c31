import { apiHandler } from '#http/api-handler.ts';
import { startOperations } from '#tasks/http/operations-request.ts';
import { openOperations } from '#tasks/services/operations.ts';

/** POST /{cloudProvider}/ops/{operation}: accepts one operation as a task; the body is its description. */
export const handler = apiHandler(openOperations, async function startProviderOperation(request, services) {
  const cloudProvider = request.getParameter('cloudProvider');
  const body = [{ [request.getParameter('operation')]: request.parseJson() }];
  return startOperations(request, services, { body, cloudProvider });
});
