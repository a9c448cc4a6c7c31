import { apiHandler, ok } from '../../../shared/runtime/http/api-handler.ts';
import { getJobReader } from '../../../shared/runtime/http/live-readers.ts';
import { openProviders } from '../../../shared/runtime/services/providers.ts';

/** GET /applications/{application}/jobs/{account}/{location}/{id}: a live Job with its pods. */
export const handler = apiHandler(openProviders, async function getJob(request, services) {
  const account = request.getParameter('account');
  const location = request.getParameter('location');
  const name = request.getParameter('id');
  return ok(await getJobReader(services, account).getJob({ account, location, name }));
});
