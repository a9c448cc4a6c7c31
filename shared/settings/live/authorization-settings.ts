import { isDeepStrictEqual } from 'node:util';
import {
  applicationCheckPath,
  settingsPath as authorizationPath,
  parseApplicationCheck,
  parseReadsChecked,
} from '#access/authorization.ts';
import { settingsPath as identityPath, parseIdentitySettings } from '#access/identity/identity-settings.ts';
import type { AccountWarning } from '#accounts/model/account.ts';
import { InvalidInputError } from '#core/errors.ts';
import type { JsonObject } from '#core/json.ts';
import type { Environment } from '#platform/config.ts';
import { settingsPath as fiatPath, parseFiatSettings } from '#providers/fiat/settings.ts';
import { getSetting, mergeDocuments } from '../spring-config.ts';

/** Unusable settings of authorization: they must admit nobody, nor may the settings before them, which may ask for less. */
export class AuthorizationSettingsError extends InvalidInputError {
  override name = 'AuthorizationSettingsError';
}

/** Environment variables that override settings of Fiat, as in Spring. An empty one counts as absent. */
const fiatVariables = [
  { variable: 'SERVICES_FIAT_ENABLED', key: 'enabled' },
  { variable: 'SERVICES_FIAT_BASEURL', key: 'baseUrl' },
];

/** The settings with the environment variables of Fiat (`SERVICES_FIAT_ENABLED`, `SERVICES_FIAT_BASEURL`). */
export function applyFiatVariables(settings: JsonObject, environment: Environment): JsonObject {
  const given = fiatVariables.flatMap(({ variable, key }) => {
    const value = environment[variable];
    return value ? [{ services: { fiat: { [key]: value } } }] : [];
  });
  return given.length === 0 ? settings : mergeDocuments([settings, ...given]);
}

/**
 * Checks the settings that identify callers (`busdriver.identity`), and those of their rights (`services.fiat`, `busdriver.authorization`,
 * `busdriver.checkApplication`).
 *
 * @param locate returns where a setting is written, for messages.
 * @throws AuthorizationSettingsError with each unusable setting, by place, path and what was expected.
 */
export function checkAuthorization(
  settings: JsonObject,
  { environment, locate }: { environment: Environment; locate: (path: string) => string | undefined },
): void {
  const parsers = [parseFiatSettings, parseIdentitySettings, parseReadsChecked, parseApplicationCheck];
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

/** Whether Fiat is on in settings that `checkAuthorization` accepted. */
export function isFiatEnabled(settings: JsonObject): boolean {
  return parseFiatSettings(settings) !== undefined;
}

/** A warning where Fiat is on, and operations on applications that it closes are only reported. */
export function listReportedChecks(settings: JsonObject): readonly AccountWarning[] {
  if (!isFiatEnabled(settings) || parseApplicationCheck(settings) !== 'report') return [];
  const reason =
    `${applicationCheckPath}: report: operations run without WRITE of their applications; the audit's wouldRefuse names them, and ` +
    'enforce refuses them with 403';
  return [{ message: 'rights on applications are only reported', reason }];
}

/** Whether both identify and authorize callers in the same way. */
export function hasSameAuthorization(one: JsonObject, other: JsonObject): boolean {
  return [fiatPath, identityPath, authorizationPath, applicationCheckPath].every((path) =>
    isDeepStrictEqual(getSetting(one, path), getSetting(other, path)),
  );
}

/** The settings with Fiat as it is in other settings, where it is on. */
export function withFiatOf(settings: JsonObject, others: JsonObject): JsonObject {
  const fiat = getSetting(others, fiatPath) ?? {};
  // A map would be merged with the earlier one, but replaces any other value.
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
