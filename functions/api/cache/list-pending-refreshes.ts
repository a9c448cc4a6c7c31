import { openBaseContext } from '../../../shared/runtime/context/base-context.ts';
import { ok, openHandler } from '../../../shared/runtime/http/open-handler.ts';

/** GET /cache/{cloudProvider}/{type}: the refreshes that wait; never any, since a refresh is answered at once. */
export const handler = openHandler(openBaseContext, async function listPendingRefreshes() {
  return ok([]);
});
