import { ok, openHandler } from '#http/open-handler.ts';
import { openBase } from '#platform/services/base.ts';

/** PUT /admin/db/truncate/{namespace}: Orca's interlink asks for it; there is no such database here, so nothing is done. */
export const handler = openHandler(openBase, async function truncateNamespace() {
  return ok({});
});
