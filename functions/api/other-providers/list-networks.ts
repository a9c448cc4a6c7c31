import { apiHandler, ok } from '#http/api-handler.ts';
import { openProviders } from '#provider-kit/services/providers.ts';

/** GET /networks: networks by provider, of which none has any. */
export const handler = apiHandler(openProviders, async function listNetworks() {
  return ok({});
});
