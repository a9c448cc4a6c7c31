import { apiHandler } from '../../../shared/runtime/api-handler.ts';
import { openOperationsContext } from '../../../shared/runtime/operations-context.ts';
import { startOperations } from '../../../shared/runtime/operations-request.ts';

/** POST /ops (deprecated in Clouddriver): as POST /{cloudProvider}/ops; each description names its `cloudProvider`. */
export const handler = apiHandler(
  openOperationsContext,
  async function startProviderLessOperations(request, context) {
    return startOperations(request, context, { body: request.parseJson(), cloudProvider: undefined });
  },
);
