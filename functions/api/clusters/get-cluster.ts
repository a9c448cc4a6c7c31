import { getCluster } from '#views/http/cluster-request.ts';
import { viewHandler } from '#views/http/view-handler.ts';

/** GET /applications/{application}/clusters/{account}/{cluster}/{cloudProvider}: a cluster. */
export const handler = viewHandler(async function getTypedCluster(request, services) {
  return getCluster(request, services, { expand: request.getFlag('expand', true) });
});
