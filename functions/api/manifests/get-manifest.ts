import { apiHandler } from '../../../shared/runtime/api-handler.ts';
import { readManifest } from '../../../shared/runtime/manifest-request.ts';
import { openProviderContext } from '../../../shared/runtime/provider-context.ts';

/** GET /manifests/{account}/{location}/{name}: a live object with status and events. Location `_` means cluster-scoped. */
export const handler = apiHandler(openProviderContext, async function getManifest(request, context) {
  const location = request.getParameter('location');
  return readManifest(request, context, {
    location: location === '_' ? '' : location,
    name: request.getParameter('name'),
  });
});
