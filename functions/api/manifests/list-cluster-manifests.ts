import { apiHandler, ok } from '#http/api-handler.ts';
import { openProviders } from '#provider-kit/services/providers.ts';
import { getManifestReader } from '#views/http/live-readers.ts';

/** GET /manifests/{account}/{location}/{name}/cluster/{application}/{cluster}: members of a cluster; `name` is their kind. */
export const handler = apiHandler(openProviders, async function listClusterManifests(request, services) {
  const account = request.getParameter('account');
  const reader = await getManifestReader(services, account);
  return ok(
    await reader.listClusterManifests({
      account,
      location: request.getParameter('location'),
      kind: request.getParameter('name'),
      application: request.getParameter('application'),
      cluster: request.getParameter('cluster'),
    }),
  );
});
