import { apiHandler, ok } from '../../../shared/runtime/http/api-handler.ts';
import { getManifestReader } from '../../../shared/runtime/http/live-readers.ts';
import { openProviders } from '../../../shared/runtime/services/providers.ts';

/** GET /manifests/{account}/{location}/{name}/cluster/{application}/{cluster}: members of a cluster; `name` is their kind. */
export const handler = apiHandler(openProviders, async function listClusterManifests(request, services) {
  const account = request.getParameter('account');
  const reader = getManifestReader(services, account);
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
