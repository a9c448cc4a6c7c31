import { openProviderContext } from '../../../shared/runtime/context/provider-context.ts';
import { apiHandler, ok } from '../../../shared/runtime/http/api-handler.ts';

/** GET /manifests/{account}/{location}/{name}/cluster/{application}/{cluster}: members of a cluster; `name` is their kind. */
export const handler = apiHandler(openProviderContext, async function listClusterManifests(request, context) {
  const account = request.getParameter('account');
  const reader = context.providers.getManifestReader(account);
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
