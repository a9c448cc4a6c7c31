import { getServerGroup } from '../../../shared/runtime/http/server-group-request.ts';
import { viewHandler } from '../../../shared/runtime/http/view-handler.ts';

/** GET /serverGroups/{account}/{region}/{name}: one server group. */
export const handler = viewHandler(async function getOneServerGroup(request, services) {
  return getServerGroup(request, services);
});
