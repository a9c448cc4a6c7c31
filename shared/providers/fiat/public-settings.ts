import type { JsonObject } from '#core/json.ts';
import { isPlainUrl, pickSettings } from '#settings/public-settings.ts';
import { getSetting } from '#settings/spring-config.ts';
import { settingsPath } from './settings.ts';

/** The settings for whether and how Fiat is asked; none of them is secret. */
const names = [
  'enabled',
  'allowStaleSeconds',
  'legacyFallback',
  'cache.maxEntries',
  'cache.expiresAfterWriteSeconds',
  'retry.initialBackoffMillis',
  'retry.maxBackoffMillis',
];

/** The settings that functions without secrets need to ask Fiat. A URL with a user or a password is refused when the settings are read. */
export function toPublicSettings(settings: JsonObject): JsonObject {
  const path = `${settingsPath}.baseUrl`;
  const paths = names.map((name) => `${settingsPath}.${name}`);
  return pickSettings(settings, isPlainUrl(getSetting(settings, path)) ? [...paths, path] : paths);
}
