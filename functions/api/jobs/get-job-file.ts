import { apiHandler, ok } from '#http/api-handler.ts';
import { openProviders } from '#provider-kit/services/providers.ts';
import { getJobReader } from '#views/http/live-readers.ts';

/**
 * GET /applications/{application}/jobs/{account}/{location}/{id}/{fileName}: properties in the log of a Job's container. The
 * "file" is the container.
 */
export const handler = apiHandler(openProviders, async function getJobFile(request, services) {
  const account = request.getParameter('account');
  const location = request.getParameter('location');
  const name = request.getParameter('id');
  const container = request.getParameter('fileName');
  const reader = await getJobReader(services, account);
  return ok(await reader.getFileContents({ account, location, name }, container));
});
