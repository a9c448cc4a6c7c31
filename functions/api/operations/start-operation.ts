import { openOperationsContext } from '../../../shared/runtime/context/operations-context.ts';
import { apiHandler } from '../../../shared/runtime/http/api-handler.ts';
import { startOperations } from '../../../shared/runtime/http/operations-request.ts';

/** POST /{cloudProvider}/ops/{operation}: accepts one operation as a task; the body is its description. */
export const handler = apiHandler(
  openOperationsContext,
  async function startProviderOperation(request, context) {
    const cloudProvider = request.getParameter('cloudProvider');
    const body = [{ [request.getParameter('operation')]: request.parseJson() }];
    return startOperations(request, context, { body, cloudProvider });
  },
);
