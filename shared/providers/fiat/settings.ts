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
import { getSetting } from '#settings/spring-config.ts';

/** Where Fiat stands in the configuration, as in all of Spinnaker's services. */
export const settingsPath = 'services.fiat';

/** Where Clouddriver looks for Fiat when nothing says where it is. */
export const defaultBaseUrl = 'http://localhost:7003';

/** Longest that a permission may be used, after its usual time, while Fiat cannot be asked: seconds. */
export const allowStaleSecondsMax = 300;

/** Longest that a permission may be kept (`cache.expiresAfterWriteSeconds`): seconds. */
export const keptSecondsMax = 300;

/** Most users whose permissions may be kept (`cache.maxEntries`). */
export const usersMax = 10_000;

/**
 * Longest that one question, its repetitions included, may take (`retry.maxBackoffMillis`): milliseconds. A read that waited for it
 * must still end below 20 seconds.
 */
export const totalMsMax = 10_000;

/** How to ask Fiat. */
export interface FiatSettings {
  /** With a slash at its end. */
  readonly baseUrl: URL;
  /** Milliseconds for which a permission is used without asking again. */
  readonly keptMs: number;
  /** Milliseconds for which it may be used beyond that while Fiat cannot be asked. 0: not at all. */
  readonly staleMs: number;
  /** Users whose permissions are kept. */
  readonly usersMax: number;
  /** Milliseconds before the first repetition. */
  readonly retryDelayMs: number;
  /** Milliseconds for one question, its repetitions included. */
  readonly totalMs: number;
  /**
   * Whether the configuration has `legacyFallback`, by which Clouddriver lets users pass while Fiat is away. Busdriver does not: this
   * is for the log.
   */
  readonly wantsLegacyFallback: boolean;
}

/** Names and defaults are those of Fiat's own client for Spinnaker's services, but for `allowStaleSeconds`, which is ours. */
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

/**
 * Reads `services.fiat`.
 *
 * @returns undefined where Fiat is off, which is the default; then nothing else in there is looked at.
 * @throws InvalidInputError naming each setting that is of no use, also when it cannot be told whether Fiat is on: nobody may be let
 *   in then. The URL itself stays out of the message: it may hold a password.
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
  if (url !== null && isPlain(url)) return url;
  throw new InvalidInputError(
    `${settingsPath}.baseUrl: expected an http or https URL without user, query and fragment`,
  );
}

function isPlain({ protocol, username, password, search, hash }: URL): boolean {
  return /^https?:$/.test(protocol) && username + password + search + hash === '';
}
