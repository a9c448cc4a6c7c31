import { apiHandler } from '../../../shared/runtime/api-handler.ts';
import { readManifest } from '../../../shared/runtime/manifest-request.ts';
import { openProviderContext } from '../../../shared/runtime/provider-context.ts';

/** GET /manifests/{account}/{location}: a live cluster-scoped object; the name arrives in the part called location. */
export const handler = apiHandler(
  openProviderContext,
  async function getClusterScopedManifest(request, context) {
    return readManifest(request, context, { location: '', name: request.getParameter('location') });
  },
);
