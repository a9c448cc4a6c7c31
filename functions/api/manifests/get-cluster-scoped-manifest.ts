import { apiHandler } from '#http/api-handler.ts';
import { openProviders } from '#provider-kit/services/providers.ts';
import { readManifest } from '#views/http/manifest-request.ts';

/** GET /manifests/{account}/{location}: a live cluster-scoped object; the name arrives in the part called location. */
export const handler = apiHandler(openProviders, async function getClusterScopedManifest(request, services) {
  return readManifest(request, services, { location: '', name: request.getParameter('location') });
});
