import { apiHandler, ok } from '../../../shared/runtime/api-handler.ts';
import { openBaseContext } from '../../../shared/runtime/base-context.ts';

/** PUT /admin/db/truncate/{namespace}: Orca's interlink asks for it; there is no such database here, so nothing is done. */
export const handler = apiHandler(openBaseContext, async function truncateNamespace() {
  return ok({});
});
