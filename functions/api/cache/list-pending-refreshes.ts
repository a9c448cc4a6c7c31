import { apiHandler, ok } from '../../../shared/runtime/api-handler.ts';
import { openBaseContext } from '../../../shared/runtime/base-context.ts';

/** GET /cache/{cloudProvider}/{type}: the refreshes that wait; never any, since a refresh is answered at once. */
export const handler = apiHandler(openBaseContext, async function listPendingRefreshes() {
  return ok([]);
});
