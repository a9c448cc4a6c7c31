import { NotFoundError } from '#core/errors.ts';
import { getCluster } from '#views/http/cluster-request.ts';
import { viewHandler } from '#views/http/view-handler.ts';

/**
 * GET /applications/{application}/clusters/{account}/{cluster}/{cloudProvider}/serverGroups/{serverGroup}:
 * with `region` a server group, else the list of those of that name.
 */
export const handler = viewHandler(async function getClusterServerGroup(request, services) {
  const name = request.getParameter('serverGroup');
  const region = request.findQuery('region') || undefined;
  const { value, accounts } = await getCluster(request, services, { expand: true });
  const found = value.serverGroups.filter(
    (each) => each.name === name && (region ?? each.region) === each.region,
  );
  if (found.length > 0) return { value: region === undefined ? found : found[0], accounts };
  const account = request.getParameter('account');
  const type = request.getParameter('cloudProvider');
  throw new NotFoundError(`Server group not found (account: ${account}, name: ${name}, type: ${type})`);
});
