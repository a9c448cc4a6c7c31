import { apiHandler } from '../../../shared/runtime/api-handler.ts';
import { startOperations } from '../../../shared/runtime/operations-request.ts';
import { openProviderContext } from '../../../shared/runtime/provider-context.ts';

/** POST /{cloudProvider}/ops: accepts a list of operations as one task. */
export const handler = apiHandler(
  openProviderContext,
  async function startProviderOperations(request, context) {
    const cloudProvider = request.getParameter('cloudProvider');
    return startOperations(request, context, { body: request.parseJson(), cloudProvider });
  },
);
