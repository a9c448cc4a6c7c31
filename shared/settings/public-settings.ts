import { isJsonObject, type JsonObject, type JsonValue } from '#core/json.ts';
import {
  accountStoragePath,
  brokerHostsPath,
  openToManagePath,
  plainSecretsPath,
  rolelessSecretsPath,
} from './account-storage.ts';
import { agentSettingPaths } from './agent-settings.ts';
import { deployedRequestLogPath, requestLogPath } from './request-log-settings.ts';
import { expandKeys, getSetting, mergeDocuments } from './spring-config.ts';

/**
 * Settings outside providers that functions without secrets need. Everything else in the configuration stays where it is: a setting is
 * public because it, or its provider, names it. Each is a scalar or a list of scalars.
 */
const publicPaths: readonly string[] = [
  accountStoragePath,
  brokerHostsPath,
  openToManagePath,
  plainSecretsPath,
  rolelessSecretsPath,
  ...agentSettingPaths,
  'artifactStore.enabled',
  'artifactStore.type',
  'artifactStore.s3.bucket',
  'artifactStore.s3.region',
  'artifactStore.s3.url',
  requestLogPath,
  deployedRequestLogPath,
  'busdriver.authorization.reads',
  'busdriver.checkApplication',
  'credentials.challengeDestructiveActionsEnvironments',
  'credentials.primaryAccountTypes',
  'redis.poll.intervalSeconds',
  'sql.agent.poll.intervalSeconds',
];

/** Settings that are public with everything in them: issuers, public keys and names of certificates. */
const publicTrees: readonly string[] = ['busdriver.identity'];

/** The public settings of a configuration that belong to no provider. */
export function pickPublicSettings(settings: JsonObject): JsonObject {
  const trees = publicTrees.map((path) => [path, getSetting(settings, path)] as const);
  const given = trees.filter((entry): entry is [string, JsonValue] => entry[1] !== undefined);
  return mergeDocuments([pickSettings(settings, publicPaths), expandKeys(Object.fromEntries(given))]);
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

/** Whether a text is a URL without anything that may be a secret: user, password or query. */
export function isPlainUrl(value: JsonValue | undefined): boolean {
  const url = typeof value === 'string' ? URL.parse(value) : null;
  return url !== null && url.username + url.password + url.search + url.hash === '';
}
