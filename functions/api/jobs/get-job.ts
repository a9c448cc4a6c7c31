import { openProviderContext } from '../../../shared/runtime/context/provider-context.ts';
import { apiHandler, ok } from '../../../shared/runtime/http/api-handler.ts';

/** GET /applications/{application}/jobs/{account}/{location}/{id}: a live Job with its pods. */
export const handler = apiHandler(openProviderContext, async function getJob(request, context) {
  const account = request.getParameter('account');
  const location = request.getParameter('location');
  const name = request.getParameter('id');
  return ok(await context.providers.getJobReader(account).getJob({ account, location, name }));
});
