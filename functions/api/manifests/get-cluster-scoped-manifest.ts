import { apiHandler } from '../../../shared/runtime/http/api-handler.ts';
import { readManifest } from '../../../shared/runtime/http/manifest-request.ts';
import { openProviders } from '../../../shared/runtime/services/providers.ts';

/** GET /manifests/{account}/{location}: a live cluster-scoped object; the name arrives in the part called location. */
export const handler = apiHandler(openProviders, async function getClusterScopedManifest(request, services) {
  return readManifest(request, services, { location: '', name: request.getParameter('location') });
});
