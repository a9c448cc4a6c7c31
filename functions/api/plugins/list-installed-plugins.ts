import { ok, openHandler } from '#http/open-handler.ts';
import { openBase } from '#platform/services/base.ts';

/** GET /installedPlugins: Gate merges the plugins of all services; there are none here. */
export const handler = openHandler(openBase, async function listInstalledPlugins() {
  return ok([]);
});
