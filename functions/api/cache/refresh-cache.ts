import { openCache } from '#caching/services/cache.ts';
import { InvalidInputError } from '#core/errors.ts';
import { isJsonObject } from '#core/json.ts';
import { apiHandler, ok } from '#http/api-handler.ts';
import { forceRefresh } from '#provider-kit/forced-refresh.ts';
import { openProviders } from '#provider-kit/services/providers.ts';

/**
 * POST /cache/{cloudProvider}/{type}: reads the object that a stage has changed into the cache. 202 if that takes too long: since none
 * waits, Orca asks again. Always 200 where there is nothing to read, as for Kubernetes, whose stages refresh no cache any more.
 */
export const handler = apiHandler(openProviders, async function refreshCache(request, services) {
  const key = request.parseJson();
  if (!isJsonObject(key)) throw new InvalidInputError('The body must be a JSON object');
  const asked = { provider: request.getParameter('cloudProvider'), type: request.getParameter('type'), key };
  const { cache, clock } = openCache(services.all, 'request');
  const parts = { cache, clock, signal: request.signal };
  const { isPending, ...answer } = await forceRefresh(services.providers.clouds, asked, parts);
  return { ...ok(answer), status: isPending ? 202 : 200 };
});
