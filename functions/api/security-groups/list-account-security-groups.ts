import { viewHandler } from '#views/http/view-handler.ts';

/** GET /securityGroups/{account}: an account's network policies, of all namespaces or of one. */
export const handler = viewHandler(async function listAccountSecurityGroups(request, { views }) {
  const account = request.getParameter('account');
  return views.listSecurityGroups({ account, location: request.findQuery('region') || undefined });
});
