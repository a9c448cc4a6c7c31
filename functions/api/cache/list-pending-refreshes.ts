import { openBaseContext } from '../../../shared/runtime/base-context.ts';
import { ok, openHandler } from '../../../shared/runtime/open-handler.ts';

/** GET /cache/{cloudProvider}/{type}: the refreshes that wait; never any, since a refresh is answered at once. */
export const handler = openHandler(openBaseContext, async function listPendingRefreshes() {
  return ok([]);
});
