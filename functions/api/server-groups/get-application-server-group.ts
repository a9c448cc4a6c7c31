import { getServerGroup } from '#views/http/server-group-request.ts';
import { viewHandler } from '#views/http/view-handler.ts';

/** GET /applications/{application}/serverGroups/{account}/{region}/{name}: one server group, of whatever application. */
export const handler = viewHandler(getServerGroup);
