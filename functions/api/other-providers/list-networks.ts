import { ok, openHandler } from '#http/open-handler.ts';
import { openBase } from '#platform/services/base.ts';

/** GET /networks: networks by provider, of which none has any. */
export const handler = openHandler(openBase, async function listNetworks() {
  return ok({});
});
