import { apiHandler, ok } from '../../../shared/runtime/api-handler.ts';
import { openProviderContext } from '../../../shared/runtime/provider-context.ts';

/** GET /manifests/{account}/{location}: a live cluster-scoped object; the name arrives in the part called location. */
export const handler = apiHandler(
  openProviderContext,
  async function getClusterScopedManifest(request, context) {
    const account = request.getParameter('account');
    return ok(
      await context.providers.getManifestReader(account).getManifest({
        account,
        location: '',
        name: request.getParameter('location'),
        includeEvents: request.getFlag('includeEvents', true),
      }),
    );
  },
);
