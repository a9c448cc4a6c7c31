import { NotFoundError } from '#core/errors.ts';
import { apiHandler } from '#http/api-handler.ts';
import { openProviders } from '#provider-kit/services/providers.ts';

/** Paths that have no other function: they go to the Clouddriver behind this one, and are 404 without it. */
export const handler = apiHandler(openProviders, async function forwardUnknownPath(request) {
  throw new NotFoundError(`No route for ${request.access.route.method} /${request.getParameter('proxy')}`);
});
