import { apiHandler, ok } from '#http/api-handler.ts';
import { openProviders } from '#provider-kit/services/providers.ts';
import { getManifestReader } from '#views/http/live-readers.ts';

/**
 * GET /manifests/{account}/{location}/{name}/cluster/{application}/{cluster}/dynamic/{criteria}: the member of a cluster that
 * is the oldest, newest, second_newest, largest or smallest; `name` is the kind.
 */
export const handler = apiHandler(openProviders, async function getDynamicManifest(request, services) {
  const account = request.getParameter('account');
  const members = {
    account,
    location: request.getParameter('location'),
    kind: request.getParameter('name'),
    application: request.getParameter('application'),
    cluster: request.getParameter('cluster'),
  };
  const reader = await getManifestReader(services, account);
  return ok(await reader.getDynamicManifest(members, request.getParameter('criteria')));
});
