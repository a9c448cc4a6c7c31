import { apiHandler } from '#http/api-handler.ts';
import { openProviders } from '#provider-kit/services/providers.ts';
import { readManifest } from '#views/http/manifest-request.ts';

/** GET /manifests/{account}/{location}/{name}: a live object with status and events. Location `_` means cluster-scoped. */
export const handler = apiHandler(openProviders, async function getManifest(request, services) {
  const location = request.getParameter('location');
  return readManifest(request, services, {
    location: location === '_' ? '' : location,
    name: request.getParameter('name'),
  });
});
