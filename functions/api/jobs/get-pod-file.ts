import { apiHandler, ok } from '#http/api-handler.ts';
import { openProviders } from '#provider-kit/services/providers.ts';
import { getInstanceReader } from '#views/http/live-readers.ts';

/**
 * GET /applications/{application}/kubernetes/pods/{account}/{location}/{pod}/{fileName}: properties in the log of a pod's
 * container. The "file" is the container.
 */
export const handler = apiHandler(openProviders, async function getPodFile(request, services) {
  const account = request.getParameter('account');
  const location = request.getParameter('location');
  const name = request.getParameter('pod');
  const container = request.getParameter('fileName');
  const reader = await getInstanceReader(services, account);
  return ok(await reader.getFileContents({ account, location, name }, container));
});
