import { InvalidInputError } from '#core/errors.ts';
import type { JsonObject } from '#core/json.ts';
import { booleanField, parseWith, requireField, settingsField, stringField } from '#settings/coerce.ts';
import { isPlainUrl } from '#settings/public-settings.ts';
import { getSetting } from '#settings/spring-config.ts';

/** Path of Front50 in the configuration, as in all of Spinnaker's services. */
export const settingsPath = 'services.front50';

const front50Fields = { enabled: booleanField(), baseUrl: stringField() };
const front50Schema = requireField(settingsField(front50Fields));

/** Paths of the settings that are read, and the section of Front50's own settings, which other services' files may hold. */
export const knownSettings: readonly string[] = [
  'front50',
  ...Object.keys(front50Fields).map((name) => `${settingsPath}.${name}`),
];

/**
 * Reads `services.front50`: `baseUrl`, and `enabled`, whose default is true if there is a `baseUrl`.
 *
 * @returns Front50's URL, with a slash at its end; undefined if it is not to be used.
 * @throws InvalidInputError naming the setting. The message does not contain the URL, which may hold a password.
 */
export function parseBaseUrl(settings: JsonObject): URL | undefined {
  const front50 = getSetting(settings, settingsPath);
  if (front50 === undefined || front50 === null) return undefined;
  const { enabled, baseUrl = '' } = parseWith(front50Schema, front50, settingsPath);
  if (enabled === false || (enabled === undefined && baseUrl === '')) return undefined;
  const url = URL.parse(baseUrl.endsWith('/') ? baseUrl : `${baseUrl}/`);
  if (url !== null && /^https?:$/.test(url.protocol) && isPlainUrl(url.href)) return url;
  throw new InvalidInputError(
    `${settingsPath}.baseUrl: expected an http or https URL without user, query and fragment`,
  );
}

/** Only the URL of Front50: for a wrong one, which may hold a password, the rejected accounts say why Front50 was left out. */
export function toPublicSettings(settings: JsonObject): JsonObject {
  try {
    const baseUrl = parseBaseUrl(settings);
    return baseUrl === undefined ? {} : { services: { front50: { enabled: true, baseUrl: baseUrl.href } } };
  } catch (error) {
    if (!(error instanceof InvalidInputError)) throw error;
    return {};
  }
}
