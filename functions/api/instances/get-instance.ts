import { viewHandler } from '#views/http/view-handler.ts';
import { getFound } from '#views/view-set.ts';

/** GET /instances/{account}/{region}/{id}: one pod, out of the cache. */
export const handler = viewHandler(async function getInstance(request, { views }) {
  const account = request.getParameter('account');
  const location = request.getParameter('region');
  const name = request.getParameter('id');
  const found = await views.findInstance({ account, location, name });
  return getFound(found, `Instance (account: ${account}, location: ${location}, name: ${name}) not found`);
});
