import { InvalidInputError } from '#core/errors.ts';
import { isJsonObject } from '#core/json.ts';
import { apiHandler, ok } from '#http/api-handler.ts';
import { openProviders } from '#provider-kit/services/providers.ts';

/**
 * POST /cache/{cloudProvider}/{type}: always 200. No Kubernetes stage refreshes a cache any more; 202 would make older Orcas
 * poll for twelve minutes.
 */
export const handler = apiHandler(openProviders, async function refreshCache(request) {
  if (!isJsonObject(request.parseJson())) throw new InvalidInputError('The body must be a JSON object');
  return ok({ cachedIdentifiersByType: {} });
});
