import { openBaseContext } from '../../../shared/runtime/context/base-context.ts';
import { ok, openHandler } from '../../../shared/runtime/http/open-handler.ts';

/** GET /networks: networks by provider, of which none has any. */
export const handler = openHandler(openBaseContext, async function listNetworks() {
  return ok({});
});
