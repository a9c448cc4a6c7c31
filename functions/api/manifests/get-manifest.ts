import { apiHandler, ok } from '../../../shared/runtime/api-handler.ts';
import { openProviderContext } from '../../../shared/runtime/provider-context.ts';

/** GET /manifests/{account}/{location}/{name}: a live object with status and events. Location `_` means cluster-scoped. */
export const handler = apiHandler(openProviderContext, async function getManifest(request, context) {
  const account = request.getParameter('account');
  const location = request.getParameter('location');
  return ok(
    await context.providers.getManifestReader(account).getManifest({
      account,
      location: location === '_' ? '' : location,
      name: request.getParameter('name'),
      includeEvents: request.getFlag('includeEvents', true),
    }),
  );
});
