import { apiHandler, ok } from '../../../shared/runtime/api-handler.ts';
import { openTaskContext } from '../../../shared/runtime/task-context.ts';

/** PUT /admin/db/truncate/{namespace}: Orca's interlink asks for it; there is no such database here, so nothing is done. */
export const handler = apiHandler(openTaskContext, async function truncateNamespace() {
  return ok({});
});
