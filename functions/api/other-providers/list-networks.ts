import { ok, openHandler } from '../../../shared/runtime/http/open-handler.ts';
import { openBase } from '../../../shared/runtime/services/base.ts';

/** GET /networks: networks by provider, of which none has any. */
export const handler = openHandler(openBase, async function listNetworks() {
  return ok({});
});
