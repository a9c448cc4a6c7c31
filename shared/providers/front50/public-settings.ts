import { InvalidInputError } from '#core/errors.ts';
import type { JsonObject } from '#core/json.ts';
import { parseBaseUrl } from './settings.ts';

/** Only the URL of Front50: one with a user or a password is refused when the settings are read. */
export function toPublicSettings(settings: JsonObject): JsonObject {
  const baseUrl = findBaseUrl(settings);
  return baseUrl === undefined ? {} : { services: { front50: { enabled: true, baseUrl: baseUrl.href } } };
}

/** Undefined for a wrong one, too: the rejected accounts say why Front50 was left out. */
function findBaseUrl(settings: JsonObject): URL | undefined {
  try {
    return parseBaseUrl(settings);
  } catch (error) {
    if (!(error instanceof InvalidInputError)) throw error;
    return undefined;
  }
}
