import { apiHandler, ok } from '../../../shared/runtime/api-handler.ts';
import { openTaskContext } from '../../../shared/runtime/task-context.ts';

/** GET /installedPlugins: Gate merges the plugins of all services; there are none here. */
export const handler = apiHandler(openTaskContext, async function listInstalledPlugins() {
  return ok([]);
});
