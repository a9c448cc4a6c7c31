import { openProviderContext } from '../../../shared/runtime/context/provider-context.ts';
import { apiHandler, ok } from '../../../shared/runtime/http/api-handler.ts';

/**
 * GET /manifests/{account}/{location}/{name}/cluster/{application}/{cluster}/dynamic/{criteria}: the member of a cluster that
 * is the oldest, newest, second_newest, largest or smallest; `name` is the kind.
 */
export const handler = apiHandler(openProviderContext, async function getDynamicManifest(request, context) {
  const account = request.getParameter('account');
  const members = {
    account,
    location: request.getParameter('location'),
    kind: request.getParameter('name'),
    application: request.getParameter('application'),
    cluster: request.getParameter('cluster'),
  };
  const reader = context.providers.getManifestReader(account);
  return ok(await reader.getDynamicManifest(members, request.getParameter('criteria')));
});
