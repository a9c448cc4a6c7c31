import { apiHandler, ok } from '../../../shared/runtime/api-handler.ts';
import { openTaskContext } from '../../../shared/runtime/task-context.ts';

/** GET /cache/{cloudProvider}/{type}: the refreshes that wait; never any, since a refresh is answered at once. */
export const handler = apiHandler(openTaskContext, async function listPendingRefreshes() {
  return ok([]);
});
