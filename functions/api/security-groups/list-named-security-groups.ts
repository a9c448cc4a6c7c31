import { getPath } from '#core/json.ts';
import { viewHandler } from '#views/http/view-handler.ts';

/**
 * GET /securityGroups/{account}/{cloudProvider}/{region}: an account's network policies of one name, in all namespaces. The sibling of
 * {region} must have its name, so the name arrives in it.
 */
export const handler = viewHandler(async function listNamedSecurityGroups(request, { views }) {
  const account = request.getParameter('account');
  const { value, accounts } = await views.listSecurityGroups({
    account,
    name: request.getParameter('region'),
  });
  return { value: getPath(value, request.getParameter('cloudProvider')) ?? {}, accounts };
});
