import { isDeepStrictEqual } from 'node:util';
import { settingsPath as authorizationPath, parseReadsChecked } from '#access/authorization.ts';
import { settingsPath as identityPath, parseIdentitySettings } from '#access/identity/identity-settings.ts';
import { InvalidInputError } from '#core/errors.ts';
import type { JsonObject } from '#core/json.ts';
import type { Environment } from '#platform/config.ts';
import { settingsPath as fiatPath, parseFiatSettings } from '#providers/fiat/settings.ts';
import { getSetting, mergeDocuments } from '../spring-config.ts';

/**
 * Settings of authorization that are of no use: nobody may be let in by them, nor by those before them, which may ask for less.
 */
export class AuthorizationSettingsError extends InvalidInputError {
  override name = 'AuthorizationSettingsError';
}

/** Environment variables that win over settings of Fiat, as in Spring. An empty one counts as absent. */
const fiatVariables = [
  { variable: 'SERVICES_FIAT_ENABLED', key: 'enabled' },
  { variable: 'SERVICES_FIAT_BASEURL', key: 'baseUrl' },
];

/** The settings with what environment variables (`SERVICES_FIAT_ENABLED`, `SERVICES_FIAT_BASEURL`) say of Fiat. */
export function applyFiatVariables(settings: JsonObject, environment: Environment): JsonObject {
  const given = fiatVariables.flatMap(({ variable, key }) => {
    const value = environment[variable];
    return value ? [{ services: { fiat: { [key]: value } } }] : [];
  });
  return given.length === 0 ? settings : mergeDocuments([settings, ...given]);
}

/**
 * Looks at the settings by which callers are known (`busdriver.identity`), and by which their rights are (`services.fiat`,
 * `busdriver.authorization`).
 *
 * @param locate where a setting is written, for messages.
 * @throws AuthorizationSettingsError with each setting that is of no use, by place, path and what was expected.
 */
export function checkAuthorization(
  settings: JsonObject,
  { environment, locate }: { environment: Environment; locate: (path: string) => string | undefined },
): void {
  const parsers = [parseFiatSettings, parseIdentitySettings, parseReadsChecked];
  const errors = parsers.flatMap((parse) => findErrors(parse, settings));
  if (errors.length === 0) return;
  throw new AuthorizationSettingsError(
    errors.map((message) => {
      const path = message.slice(0, Math.max(0, message.indexOf(':')));
      const place = findVariable(path, environment) ?? locate(path);
      return place === undefined ? message : `${place}: ${message}`;
    }),
  );
}

/** Whether Fiat is on in settings that `checkAuthorization` let pass. */
export function isFiatEnabled(settings: JsonObject): boolean {
  return parseFiatSettings(settings) !== undefined;
}

/** Whether callers are known and authorized in the same way by both. */
export function hasSameAuthorization(one: JsonObject, other: JsonObject): boolean {
  return [fiatPath, identityPath, authorizationPath].every((path) =>
    isDeepStrictEqual(getSetting(one, path), getSetting(other, path)),
  );
}

/** The settings with Fiat as it is in others, in which it is on. */
export function withFiatOf(settings: JsonObject, others: JsonObject): JsonObject {
  const fiat = getSetting(others, fiatPath) ?? {};
  // A map would be merged with the one before it, but takes the place of anything else.
  return mergeDocuments([settings, { services: { fiat: false } }, { services: { fiat } }]);
}

function findErrors(parse: (settings: JsonObject) => unknown, settings: JsonObject): readonly string[] {
  try {
    parse(settings);
    return [];
  } catch (error) {
    if (error instanceof InvalidInputError) return error.errors;
    throw error;
  }
}

function findVariable(path: string, environment: Environment): string | undefined {
  const found = fiatVariables.find(
    ({ variable, key }) => path === `${fiatPath}.${key}` && environment[variable],
  );
  return found && `environment variable ${found.variable}`;
}
