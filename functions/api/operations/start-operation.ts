import { apiHandler } from '../../../shared/runtime/api-handler.ts';
import { startOperations } from '../../../shared/runtime/operations-request.ts';
import { openProviderContext } from '../../../shared/runtime/provider-context.ts';

/** POST /{cloudProvider}/ops/{operation}: accepts one operation as a task; the body is its description. */
export const handler = apiHandler(
  openProviderContext,
  async function startProviderOperation(request, context) {
    const cloudProvider = request.getParameter('cloudProvider');
    const body = [{ [request.getParameter('operation')]: request.parseJson() }];
    return startOperations(request, context, { body, cloudProvider });
  },
);
