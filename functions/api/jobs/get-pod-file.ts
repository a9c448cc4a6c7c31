import { openProviderContext } from '../../../shared/runtime/context/provider-context.ts';
import { apiHandler, ok } from '../../../shared/runtime/http/api-handler.ts';

/**
 * GET /applications/{application}/kubernetes/pods/{account}/{location}/{pod}/{fileName}: properties in the log of a pod's
 * container. The "file" is the container.
 */
export const handler = apiHandler(openProviderContext, async function getPodFile(request, context) {
  const account = request.getParameter('account');
  const location = request.getParameter('location');
  const pod = request.getParameter('pod');
  const container = request.getParameter('fileName');
  const reader = context.providers.getJobReader(account);
  return ok(await reader.getPodProperties({ account, location, pod }, container));
});
