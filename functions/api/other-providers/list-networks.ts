import { openBaseContext } from '../../../shared/runtime/base-context.ts';
import { ok, openHandler } from '../../../shared/runtime/open-handler.ts';

/** GET /networks: networks by provider, of which none has any. */
export const handler = openHandler(openBaseContext, async function listNetworks() {
  return ok({});
});
