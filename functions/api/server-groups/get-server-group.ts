import { getServerGroup } from '#views/http/server-group-request.ts';
import { viewHandler } from '#views/http/view-handler.ts';

/** GET /serverGroups/{account}/{region}/{name}: one server group. */
export const handler = viewHandler(getServerGroup);
