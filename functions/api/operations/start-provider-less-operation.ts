import { apiHandler } from '#http/api-handler.ts';
import { startOperations } from '#tasks/http/operations-request.ts';
import { openOperations } from '#tasks/services/operations.ts';

/** POST /ops/{operation} (deprecated in Clouddriver): one operation; its description names the `cloudProvider`. */
export const handler = apiHandler(
  openOperations,
  async function startProviderLessOperation(request, services) {
    const body = [{ [request.getParameter('operation')]: request.parseJson() }];
    return startOperations(request, services, { body, cloudProvider: undefined });
  },
);
