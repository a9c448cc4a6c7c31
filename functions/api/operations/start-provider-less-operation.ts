import { apiHandler } from '../../../shared/runtime/api-handler.ts';
import { startOperations } from '../../../shared/runtime/operations-request.ts';
import { openProviderContext } from '../../../shared/runtime/provider-context.ts';

/** POST /ops/{operation} (deprecated in Clouddriver): one operation; its description names the `cloudProvider`. */
export const handler = apiHandler(
  openProviderContext,
  async function startProviderLessOperation(request, context) {
    const body = [{ [request.getParameter('operation')]: request.parseJson() }];
    return startOperations(request, context, { body, cloudProvider: undefined });
  },
);
