import { getPath } from '#core/json.ts';
import { viewHandler } from '#views/http/view-handler.ts';

/** GET /securityGroups/{account}/{cloudProvider}: what one provider has of an account's network policies. */
export const handler = viewHandler(async function listProviderSecurityGroups(request, { views }) {
  const account = request.getParameter('account');
  const location = request.findQuery('region') || undefined;
  const { value, accounts } = await views.listSecurityGroups({ account, location });
  const found = getPath(value, request.getParameter('cloudProvider'));
  return { value: found ?? (location === undefined ? {} : []), accounts };
});
