import { openOperationsContext } from '../../../shared/runtime/context/operations-context.ts';
import { apiHandler } from '../../../shared/runtime/http/api-handler.ts';
import { startOperations } from '../../../shared/runtime/http/operations-request.ts';

/** POST /{cloudProvider}/ops: accepts a list of operations as one task. */
export const handler = apiHandler(
  openOperationsContext,
  async function startProviderOperations(request, context) {
    const cloudProvider = request.getParameter('cloudProvider');
    return startOperations(request, context, { body: request.parseJson(), cloudProvider });
  },
);
