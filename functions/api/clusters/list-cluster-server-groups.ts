import { getCluster } from '#views/http/cluster-request.ts';
import { viewHandler } from '#views/http/view-handler.ts';

/** GET /applications/{application}/clusters/{account}/{cluster}/{cloudProvider}/serverGroups: the server groups of a cluster. */
export const handler = viewHandler(async function listClusterServerGroups(request, services) {
  const region = request.findQuery('region') || undefined;
  const { value, accounts } = await getCluster(request, services, {
    expand: request.getFlag('expand', true),
  });
  const serverGroups = value.serverGroups.filter((each) => (region ?? each.region) === each.region);
  return { value: serverGroups, accounts };
});
