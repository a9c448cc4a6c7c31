import { openBaseContext } from '../../../shared/runtime/context/base-context.ts';
import { ok, openHandler } from '../../../shared/runtime/http/open-handler.ts';

/** PUT /admin/db/truncate/{namespace}: Orca's interlink asks for it; there is no such database here, so nothing is done. */
export const handler = openHandler(openBaseContext, async function truncateNamespace() {
  return ok({});
});
