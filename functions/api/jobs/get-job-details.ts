import { apiHandler, ok } from '#http/api-handler.ts';
import { openProviders } from '#provider-kit/services/providers.ts';
import { getJobReader } from '#views/http/live-readers.ts';

/** POST /applications/{application}/jobs/{account}/{location}/{id}: the same as GET, as Gate asks for the details of a Job. */
export const handler = apiHandler(openProviders, async function getJobDetails(request, services) {
  const account = request.getParameter('account');
  const location = request.getParameter('location');
  const name = request.getParameter('id');
  return ok(await (await getJobReader(services, account)).getJob({ account, location, name }));
});
