import { getTargetServerGroup } from '#views/http/target-request.ts';
import { viewHandler } from '#views/http/view-handler.ts';

/**
 * GET /applications/{application}/clusters/{account}/{cluster}/{cloudProvider}/{scope}/serverGroups/target/{target}:
 * the newest, oldest … server group of a cluster in a namespace.
 */
export const handler = viewHandler(async function getTarget(request, services) {
  return getTargetServerGroup(request, services, { validateOldest: request.getFlag('validateOldest', true) });
});
