import { apiHandler } from '../../../shared/runtime/api-handler.ts';
import { openOperationsContext } from '../../../shared/runtime/operations-context.ts';
import { startOperations } from '../../../shared/runtime/operations-request.ts';

/** POST /{cloudProvider}/ops: accepts a list of operations as one task. */
export const handler = apiHandler(
  openOperationsContext,
  async function startProviderOperations(request, context) {
    const cloudProvider = request.getParameter('cloudProvider');
    return startOperations(request, context, { body: request.parseJson(), cloudProvider });
  },
);
