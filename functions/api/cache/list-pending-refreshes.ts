import { apiHandler, ok } from '#http/api-handler.ts';
import { openProviders } from '#provider-kit/services/providers.ts';

/** GET /cache/{cloudProvider}/{type}: the refreshes that wait; never any, since a refresh is answered at once. */
export const handler = apiHandler(openProviders, async function listPendingRefreshes() {
  return ok([]);
});
