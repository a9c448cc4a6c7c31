import { getCluster } from '#views/http/cluster-request.ts';
import { viewHandler } from '#views/http/view-handler.ts';

/**
 * GET /applications/{application}/clusters/{account}/{cluster}/{cloudProvider}/loadBalancers: what the
 * server groups of a cluster are behind.
 */
export const handler = viewHandler(async function listClusterLoadBalancers(request, services) {
  const { value, accounts } = await getCluster(request, services, { expand: true });
  return { value: value.loadBalancers, accounts };
});
