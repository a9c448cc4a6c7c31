import { ok, openHandler } from '#http/open-handler.ts';
import { openBase } from '#platform/services/base.ts';

/** GET /cache/{cloudProvider}/{type}: the refreshes that wait; never any, since a refresh is answered at once. */
export const handler = openHandler(openBase, async function listPendingRefreshes() {
  return ok([]);
});
