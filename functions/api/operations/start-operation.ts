import { apiHandler } from '../../../shared/runtime/http/api-handler.ts';
import { startOperations } from '../../../shared/runtime/http/operations-request.ts';
import { openOperations } from '../../../shared/runtime/services/operations.ts';

/** POST /{cloudProvider}/ops/{operation}: accepts one operation as a task; the body is its description. */
export const handler = apiHandler(openOperations, async function startProviderOperation(request, services) {
  const cloudProvider = request.getParameter('cloudProvider');
  const body = [{ [request.getParameter('operation')]: request.parseJson() }];
  return startOperations(request, services, { body, cloudProvider });
});
