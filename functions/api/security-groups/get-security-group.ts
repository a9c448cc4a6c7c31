import { viewHandler } from '#views/http/view-handler.ts';
import { getFound } from '#views/view-set.ts';

/** GET /securityGroups/{account}/{cloudProvider}/{region}/{name}: one network policy with the ports that it lets through. */
export const handler = viewHandler(async function getSecurityGroup(request, { views }) {
  const account = request.getParameter('account');
  const location = request.getParameter('region');
  const name = request.getParameter('name');
  const found = await views
    .selectProvider(request.getParameter('cloudProvider'))
    .findSecurityGroup({ account, location, name });
  return getFound(
    found,
    `Security group (account: ${account}, location: ${location}, name: ${name}) not found`,
  );
});
