import { openBaseContext } from '../../../shared/runtime/context/base-context.ts';
import { ok, openHandler } from '../../../shared/runtime/http/open-handler.ts';

/** GET /installedPlugins: Gate merges the plugins of all services; there are none here. */
export const handler = openHandler(openBaseContext, async function listInstalledPlugins() {
  return ok([]);
});
