import { apiHandler, ok } from '#http/api-handler.ts';
import { openProviders } from '#provider-kit/services/providers.ts';
import { getJobReader } from '#views/http/live-readers.ts';

/** DELETE /applications/{application}/jobs/{account}/{location}/{id}: deletes a Job and its pods. */
export const handler = apiHandler(openProviders, async function cancelJob(request, services) {
  const account = request.getParameter('account');
  const location = request.getParameter('location');
  const name = request.getParameter('id');
  await (await getJobReader(services, account)).cancelJob({ account, location, name });
  return ok({});
});
