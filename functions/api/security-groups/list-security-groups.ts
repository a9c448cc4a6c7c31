import { viewHandler } from '#views/http/view-handler.ts';

/** GET /securityGroups: the network policies of all accounts. */
export const handler = viewHandler(async function listSecurityGroups(_request, { views }) {
  return views.listSecurityGroups({});
});
