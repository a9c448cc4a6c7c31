import { isJsonObject, type JsonObject, type JsonValue } from './json.ts';
import { expandKeys, getSetting } from './spring-config.ts';

/**
 * Settings of no provider that functions without secrets need. Everything else of the configuration stays where it is: a setting
 * is public by being named here, or by its provider. Each is a scalar or a list of scalars.
 */
const publicPaths: readonly string[] = [
  'busdriver.authorization.reads',
  'busdriver.identity',
  'credentials.challengeDestructiveActionsEnvironments',
  'credentials.primaryAccountTypes',
  'redis.poll.intervalSeconds',
  'services.fiat.allowStaleSeconds',
  'services.fiat.enabled',
  'sql.agent.poll.intervalSeconds',
];

/** The same, for URLs: one with a user, a password or a query in it is left out, for these may be secrets. */
const publicUrlPaths: readonly string[] = ['services.fiat.baseUrl'];

/** The public settings of a configuration that belong to no provider. */
export function pickPublicSettings(settings: JsonObject): JsonObject {
  const urlPaths = publicUrlPaths.filter((path) => isPlainUrl(getSetting(settings, path)));
  return pickSettings(settings, [...publicPaths, ...urlPaths]);
}

/** The settings at these paths, nested; those that are neither scalars nor lists of scalars are left out. */
export function pickSettings(settings: JsonObject, paths: readonly string[]): JsonObject {
  const entries = paths.map((path) => [path, getSetting(settings, path)] as const);
  const isGiven = (entry: readonly [string, JsonValue | undefined]): entry is [string, JsonValue] =>
    isPlain(entry[1]);
  return expandKeys(Object.fromEntries(entries.filter(isGiven)));
}

/** Whether a value is a scalar or a list of scalars. */
function isPlain(value: JsonValue | undefined): boolean {
  if (Array.isArray(value)) return value.every((item) => !isJsonObject(item) && !Array.isArray(item));
  return value !== undefined && value !== null && !isJsonObject(value);
}

function isPlainUrl(value: JsonValue | undefined): boolean {
  const url = typeof value === 'string' ? URL.parse(value) : null;
  return url !== null && url.username + url.password + url.search + url.hash === '';
}
