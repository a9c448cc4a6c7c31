import { apiHandler } from '../../../shared/runtime/http/api-handler.ts';
import { readManifest } from '../../../shared/runtime/http/manifest-request.ts';
import { openProviders } from '../../../shared/runtime/services/providers.ts';

/** GET /manifests/{account}/{location}/{name}: a live object with status and events. Location `_` means cluster-scoped. */
export const handler = apiHandler(openProviders, async function getManifest(request, services) {
  const location = request.getParameter('location');
  return readManifest(request, services, {
    location: location === '_' ? '' : location,
    name: request.getParameter('name'),
  });
});
