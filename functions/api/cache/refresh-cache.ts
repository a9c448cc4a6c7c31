import { apiHandler, ok } from '../../../shared/runtime/api-handler.ts';
import { openTaskContext } from '../../../shared/runtime/task-context.ts';

/**
 * POST /cache/{cloudProvider}/{type}: always 200. No Kubernetes stage refreshes a cache any more; 202 would make older Orcas
 * poll for twelve minutes.
 */
export const handler = apiHandler(openTaskContext, async function refreshCache() {
  return ok({ cachedIdentifiersByType: {} });
});
