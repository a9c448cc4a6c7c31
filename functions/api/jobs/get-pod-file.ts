import { apiHandler, ok } from '../../../shared/runtime/api-handler.ts';
import { openProviderContext } from '../../../shared/runtime/provider-context.ts';

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
