import { openCache } from '#caching/services/cache.ts';
import { TimeoutError, within } from '#core/deadline.ts';
import { InvalidInputError } from '#core/errors.ts';
import { isJsonObject } from '#core/json.ts';
import { type ApiResponse, apiHandler, ok } from '#http/api-handler.ts';
import { openProviders } from '#provider-kit/services/providers.ts';

/** Milliseconds that a stage waits for its object to be read. */
const refreshTimeoutMs = 5_000;

/**
 * POST /cache/{cloudProvider}/{type}: reads the object that a stage has changed into the cache. 202 if that takes too long: since none
 * waits, Orca asks again. Always 200 where there is nothing to read, as for Kubernetes, whose stages refresh no cache any more.
 */
export const handler = apiHandler(openProviders, async function refreshCache(request, services) {
  const key = request.parseJson();
  if (!isJsonObject(key)) throw new InvalidInputError('The body must be a JSON object');
  const type = request.getParameter('type');
  const provider = request.getParameter('cloudProvider').toLowerCase();
  const clouds = services.providers.clouds.filter(({ name }) => name.toLowerCase() === provider);
  const [refresh] = clouds.flatMap(({ caching }) => caching?.findRefresh?.(type, key) ?? []);
  if (refresh === undefined) return ok({ cachedIdentifiersByType: {} });
  const answer = ok({ cachedIdentifiersByType: { [type]: [refresh.id] } });
  const { cache } = openCache(services.all, 'request');
  const deadline = { ms: refreshTimeoutMs, what: `reading ${refresh.id}`, signal: request.signal };
  try {
    await within(services.clock, deadline, (signal) => refresh.run({ cache, signal }));
    return answer;
  } catch (error) {
    if (error instanceof TimeoutError) return { ...answer, status: 202 } satisfies ApiResponse;
    throw error;
  }
});
