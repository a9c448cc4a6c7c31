import { listApplications } from '../../../shared/core/list-applications.ts';
import { apiHandler, ok } from '../../../shared/runtime/api-handler.ts';
import { openProviderContext } from '../../../shared/runtime/provider-context.ts';

/** GET /applications: the applications that the accounts run, with their clusters; Fiat and Gate poll it. */
export const handler = apiHandler(openProviderContext, async function getApplications(request, context) {
  // They change nothing here, but a caller who means something else by them is told.
  for (const name of ['expand', 'restricted']) request.getFlag(name, false);
  return ok(await listApplications(context.providers, request.signal));
});
