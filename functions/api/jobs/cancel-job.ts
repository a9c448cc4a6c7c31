import { apiHandler, ok } from '../../../shared/runtime/http/api-handler.ts';
import { getJobReader } from '../../../shared/runtime/http/live-readers.ts';
import { openProviders } from '../../../shared/runtime/services/providers.ts';

/** DELETE /applications/{application}/jobs/{account}/{location}/{id}: deletes a Job and its pods. */
export const handler = apiHandler(openProviders, async function cancelJob(request, services) {
  const account = request.getParameter('account');
  const location = request.getParameter('location');
  const name = request.getParameter('id');
  await getJobReader(services, account).cancelJob({ account, location, name });
  return ok({});
});
