import { openProviderContext } from '../../../shared/runtime/context/provider-context.ts';
import { apiHandler } from '../../../shared/runtime/http/api-handler.ts';
import { readManifest } from '../../../shared/runtime/http/manifest-request.ts';

/** GET /manifests/{account}/{location}/{name}: a live object with status and events. Location `_` means cluster-scoped. */
export const handler = apiHandler(openProviderContext, async function getManifest(request, context) {
  const location = request.getParameter('location');
  return readManifest(request, context, {
    location: location === '_' ? '' : location,
    name: request.getParameter('name'),
  });
});
