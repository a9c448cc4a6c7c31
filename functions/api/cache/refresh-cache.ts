import { InvalidInputError } from '#core/errors.ts';
import { isJsonObject } from '#core/json.ts';
import { ok, openHandler } from '#http/open-handler.ts';
import { openBase } from '#platform/services/base.ts';

/**
 * POST /cache/{cloudProvider}/{type}: always 200. No Kubernetes stage refreshes a cache any more; 202 would make older Orcas
 * poll for twelve minutes.
 */
export const handler = openHandler(openBase, async function refreshCache(request) {
  if (!isJsonObject(request.parseJson())) throw new InvalidInputError('The body must be a JSON object');
  return ok({ cachedIdentifiersByType: {} });
});
