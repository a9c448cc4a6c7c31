import { openProviderContext } from '../../../shared/runtime/context/provider-context.ts';
import { apiHandler, ok } from '../../../shared/runtime/http/api-handler.ts';

/**
 * GET /applications/{application}/jobs/{account}/{location}/{id}/{fileName}: properties in the log of a Job's container. The
 * "file" is the container.
 */
export const handler = apiHandler(openProviderContext, async function getJobFile(request, context) {
  const account = request.getParameter('account');
  const location = request.getParameter('location');
  const name = request.getParameter('id');
  const container = request.getParameter('fileName');
  const reader = context.providers.getJobReader(account);
  return ok(await reader.getJobProperties({ account, location, name }, container));
});
