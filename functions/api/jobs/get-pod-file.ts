import { apiHandler, ok } from '../../../shared/runtime/http/api-handler.ts';
import { getInstanceReader } from '../../../shared/runtime/http/live-readers.ts';
import { openProviders } from '../../../shared/runtime/services/providers.ts';

/**
 * GET /applications/{application}/kubernetes/pods/{account}/{location}/{pod}/{fileName}: properties in the log of a pod's
 * container. The "file" is the container.
 */
export const handler = apiHandler(openProviders, async function getPodFile(request, services) {
  const account = request.getParameter('account');
  const location = request.getParameter('location');
  const name = request.getParameter('pod');
  const container = request.getParameter('fileName');
  const reader = getInstanceReader(services, account);
  return ok(await reader.getFileContents({ account, location, name }, container));
});
