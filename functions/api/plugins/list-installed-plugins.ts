import { apiHandler, ok } from '../../../shared/runtime/api-handler.ts';
import { openBaseContext } from '../../../shared/runtime/base-context.ts';

/** GET /installedPlugins: Gate merges the plugins of all services; there are none here. */
export const handler = apiHandler(openBaseContext, async function listInstalledPlugins() {
  return ok([]);
});
