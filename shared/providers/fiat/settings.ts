import { InvalidInputError } from '#core/errors.ts';
import type { JsonObject } from '#core/json.ts';
import {
  booleanField,
  intField,
  parseAt,
  requireField,
  settingsField,
  stringField,
  withDefault,
} from '#settings/coerce.ts';
import { isPlainUrl, pickSettings } from '#settings/public-settings.ts';
import { getSetting } from '#settings/spring-config.ts';

/** Path of Fiat in the configuration, as in all of Spinnaker's services. */
export const settingsPath = 'services.fiat';

/** Clouddriver's default URL of Fiat. */
export const defaultBaseUrl = 'http://localhost:7003';

/** The longest that a permission may be used beyond its usual time while Fiat is unavailable, seconds. */
export const allowStaleSecondsMax = 300;

/** The longest that a permission may be kept (`cache.expiresAfterWriteSeconds`): seconds. */
export const keptSecondsMax = 300;

/** Most users whose permissions may be kept (`cache.maxEntries`). */
export const usersMax = 10_000;

/**
 * The longest that one request may take, including retries (`retry.maxBackoffMillis`): milliseconds. A read that waited for it must still
 * end within 20 seconds.
 */
export const totalMsMax = 10_000;

/** How to ask Fiat. */
export interface FiatSettings {
  /** With a slash at its end. */
  readonly baseUrl: URL;
  /** Milliseconds for which a permission is used without another request. */
  readonly keptMs: number;
  /** Milliseconds for which it may be used beyond that while Fiat is unavailable. 0: not at all. */
  readonly staleMs: number;
  /** Users whose permissions are kept. */
  readonly usersMax: number;
  /** Milliseconds before the first retry. */
  readonly retryDelayMs: number;
  /** Milliseconds for one request, including retries. */
  readonly totalMs: number;
  /**
   * Whether the configuration has `legacyFallback`, by which Clouddriver allows users everything while Fiat is unavailable. Busdriver does
   * not; this is for the log.
   */
  readonly wantsLegacyFallback: boolean;
}

/** Names and defaults are those of Fiat's own client for Spinnaker's services, except `allowStaleSeconds`, which is ours. */
const fiatFields = {
  enabled: withDefault(booleanField(), false),
  baseUrl: withDefault(stringField(), defaultBaseUrl),
  allowStaleSeconds: withDefault(intField({ min: 0, max: allowStaleSecondsMax }), 0),
  legacyFallback: withDefault(booleanField(), false),
};
const cacheFields = {
  maxEntries: intField({ min: 1, max: usersMax }),
  expiresAfterWriteSeconds: intField({ min: 0, max: keptSecondsMax }),
};
const retryFields = {
  initialBackoffMillis: intField({ min: 1, max: totalMsMax }),
  maxBackoffMillis: intField({ min: 1, max: totalMsMax }),
};
const fiatSchema = requireField(
  settingsField({ ...fiatFields, cache: settingsField(cacheFields), retry: settingsField(retryFields) }),
);

/** Paths of the settings that are read. */
export const knownSettings: readonly string[] = [
  ...Object.keys(fiatFields).map((name) => `${settingsPath}.${name}`),
  ...Object.keys(cacheFields).map((name) => `${settingsPath}.cache.${name}`),
  ...Object.keys(retryFields).map((name) => `${settingsPath}.retry.${name}`),
];

/** The settings for whether and how Fiat is asked; none of them is secret. */
const publicNames = [
  ...['enabled', 'allowStaleSeconds', 'legacyFallback', 'cache.maxEntries', 'cache.expiresAfterWriteSeconds'],
  ...['retry.initialBackoffMillis', 'retry.maxBackoffMillis'],
];

/** The settings that functions without secrets need to ask Fiat. A URL with a user or a password is refused when the settings are read. */
export function toPublicSettings(settings: JsonObject): JsonObject {
  const path = `${settingsPath}.baseUrl`;
  const paths = publicNames.map((name) => `${settingsPath}.${name}`);
  return pickSettings(settings, isPlainUrl(getSetting(settings, path)) ? [...paths, path] : paths);
}

/**
 * Reads `services.fiat`.
 *
 * @returns undefined if Fiat is off, which is the default; the other settings are then not checked.
 * @throws InvalidInputError naming each invalid setting, also if it is unclear whether Fiat is on: no user may be allowed then. The message
 *   does not contain the URL, which may hold a password.
 */
export function parseFiatSettings(settings: JsonObject): FiatSettings | undefined {
  const fiat = getSetting(settings, settingsPath);
  if (fiat === undefined || fiat === null || !isEnabled(fiat)) return undefined;
  const { baseUrl, allowStaleSeconds, legacyFallback, cache, retry } = parseAt(
    fiatSchema,
    fiat,
    settingsPath,
  );
  return {
    baseUrl: parseBaseUrl(baseUrl),
    keptMs: (cache?.expiresAfterWriteSeconds ?? 20) * 1000,
    staleMs: allowStaleSeconds * 1000,
    usersMax: cache?.maxEntries ?? 1000,
    retryDelayMs: retry?.initialBackoffMillis ?? 500,
    totalMs: retry?.maxBackoffMillis ?? totalMsMax,
    wantsLegacyFallback: legacyFallback,
  };
}

const switchSchema = requireField(settingsField({ enabled: withDefault(booleanField(), false) }));

function isEnabled(fiat: unknown): boolean {
  return parseAt(switchSchema, fiat, settingsPath).enabled;
}

function parseBaseUrl(text: string): URL {
  const url = URL.parse(text.endsWith('/') ? text : `${text}/`);
  if (url !== null && /^https?:$/.test(url.protocol) && isPlainUrl(url.href)) return url;
  throw new InvalidInputError(
    `${settingsPath}.baseUrl: expected an http or https URL without user, query and fragment`,
  );
}
