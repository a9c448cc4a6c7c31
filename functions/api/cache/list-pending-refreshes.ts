import { ok, openHandler } from '../../../shared/runtime/http/open-handler.ts';
import { openBase } from '../../../shared/runtime/services/base.ts';

/** GET /cache/{cloudProvider}/{type}: the refreshes that wait; never any, since a refresh is answered at once. */
export const handler = openHandler(openBase, async function listPendingRefreshes() {
  return ok([]);
});
