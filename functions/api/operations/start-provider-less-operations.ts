import { apiHandler } from '../../../shared/runtime/api-handler.ts';
import { startOperations } from '../../../shared/runtime/operations-request.ts';
import { openProviderContext } from '../../../shared/runtime/provider-context.ts';

/** POST /ops (deprecated in Clouddriver): as POST /{cloudProvider}/ops; each description names its `cloudProvider`. */
export const handler = apiHandler(
  openProviderContext,
  async function startProviderLessOperations(request, context) {
    return startOperations(request, context, { body: request.parseJson(), cloudProvider: undefined });
  },
);
