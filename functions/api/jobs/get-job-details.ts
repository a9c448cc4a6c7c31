import { openProviderContext } from '../../../shared/runtime/context/provider-context.ts';
import { apiHandler, ok } from '../../../shared/runtime/http/api-handler.ts';

/** POST /applications/{application}/jobs/{account}/{location}/{id}: the same as GET, as Gate asks for the details of a Job. */
export const handler = apiHandler(openProviderContext, async function getJobDetails(request, context) {
  const account = request.getParameter('account');
  const location = request.getParameter('location');
  const name = request.getParameter('id');
  return ok(await context.providers.getJobReader(account).getJob({ account, location, name }));
});
