import { getServerGroup } from '../../../shared/runtime/server-group-request.ts';
import { viewHandler } from '../../../shared/runtime/view-handler.ts';

/** GET /applications/{application}/serverGroups/{account}/{region}/{name}: one server group, of whatever application. */
export const handler = viewHandler(async function getApplicationServerGroup(request, context) {
  return getServerGroup(request, context);
});
