import { openOperationsContext } from '../../../shared/runtime/context/operations-context.ts';
import { apiHandler } from '../../../shared/runtime/http/api-handler.ts';
import { startOperations } from '../../../shared/runtime/http/operations-request.ts';

/** POST /ops/{operation} (deprecated in Clouddriver): one operation; its description names the `cloudProvider`. */
export const handler = apiHandler(
  openOperationsContext,
  async function startProviderLessOperation(request, context) {
    const body = [{ [request.getParameter('operation')]: request.parseJson() }];
    return startOperations(request, context, { body, cloudProvider: undefined });
  },
);
