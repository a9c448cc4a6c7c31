import { openProviderContext } from '../../../shared/runtime/context/provider-context.ts';
import { apiHandler } from '../../../shared/runtime/http/api-handler.ts';
import { readManifest } from '../../../shared/runtime/http/manifest-request.ts';

/** GET /manifests/{account}/{location}: a live cluster-scoped object; the name arrives in the part called location. */
export const handler = apiHandler(
  openProviderContext,
  async function getClusterScopedManifest(request, context) {
    return readManifest(request, context, { location: '', name: request.getParameter('location') });
  },
);
