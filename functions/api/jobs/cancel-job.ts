import { openProviderContext } from '../../../shared/runtime/context/provider-context.ts';
import { apiHandler, ok } from '../../../shared/runtime/http/api-handler.ts';

/** DELETE /applications/{application}/jobs/{account}/{location}/{id}: deletes a Job and its pods. */
export const handler = apiHandler(openProviderContext, async function cancelJob(request, context) {
  const account = request.getParameter('account');
  const location = request.getParameter('location');
  const name = request.getParameter('id');
  await context.providers.getJobReader(account).deleteJob({ account, location, name });
  return ok({});
});
