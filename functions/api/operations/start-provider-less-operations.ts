import { apiHandler } from '#http/api-handler.ts';
import { startOperations } from '#tasks/http/operations-request.ts';
import { openOperations } from '#tasks/services/operations.ts';

/** POST /ops (deprecated in Clouddriver): as POST /{cloudProvider}/ops; each description names its `cloudProvider`. */
export const handler = apiHandler(
  openOperations,
  async function startProviderLessOperations(request, services) {
    return startOperations(request, services, { body: request.parseJson(), cloudProvider: undefined });
  },
);
