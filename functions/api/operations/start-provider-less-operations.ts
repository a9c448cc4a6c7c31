import { openOperationsContext } from '../../../shared/runtime/context/operations-context.ts';
import { apiHandler } from '../../../shared/runtime/http/api-handler.ts';
import { startOperations } from '../../../shared/runtime/http/operations-request.ts';

/** POST /ops (deprecated in Clouddriver): as POST /{cloudProvider}/ops; each description names its `cloudProvider`. */
export const handler = apiHandler(
  openOperationsContext,
  async function startProviderLessOperations(request, context) {
    return startOperations(request, context, { body: request.parseJson(), cloudProvider: undefined });
  },
);
