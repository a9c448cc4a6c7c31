import { InvalidInputError } from '../../core/errors.ts';
import { asJsonObject } from '../../core/json.ts';
import type { Artifact } from '../../core/providers/artifact.ts';
import type { ProviderOptions } from '../../core/providers/provider.ts';
import { intField, jsonObjectField } from '../../core/settings/coerce.ts';
import { getSetting, mergeDocuments } from '../../core/settings/spring-config.ts';
import { type ConfiguredAccount, parseSettings } from './account-settings.ts';
import { type Downloader, startDownloader } from './downloader.ts';
import { hasUserInfo } from './url-guard.ts';
import { parseUrlRestrictions } from './url-restrictions.ts';

/** Settings that count for every account: `artifacts.urlRestrictions`, `artifacts.maxDownloadBytes`. */
const sharedFields = {
  urlRestrictions: jsonObjectField(),
  maxDownloadBytes: intField({ min: 1, max: Number.MAX_SAFE_INTEGER }),
};

/**
 * Starts the downloader of an account. Its `urlRestrictions` stand above those of `artifacts.urlRestrictions`, key by
 * key.
 *
 * @throws InvalidInputError naming the key that cannot be used.
 */
export function startAccountDownloader(account: ConfiguredAccount, options: ProviderOptions): Downloader {
  const artifacts = asJsonObject(getSetting(options.settings, 'artifacts')) ?? {};
  const shared = parseSettings(sharedFields, artifacts, 'artifacts');
  const own = parseSettings({ urlRestrictions: jsonObjectField() }, account.settings, account.context);
  const merged = mergeDocuments([shared.urlRestrictions ?? {}, own.urlRestrictions ?? {}]);
  return startDownloader({
    account: account.name,
    restrictions: parseUrlRestrictions(merged, `${account.context}: urlRestrictions`),
    clock: options.clock,
    randomness: options.randomness,
    log: options.log,
    limits: shared.maxDownloadBytes === undefined ? {} : { bytesMax: shared.maxDownloadBytes },
  });
}

/** Longest reference that is a URL, in characters: what servers take of a request's target. */
export const referenceLengthMax = 8_192;

/**
 * The URL that an artifact refers to.
 *
 * @throws InvalidInputError when there is none, it is longer than `referenceLengthMax`, or it holds a user name or password:
 *   credentials are the account's. The reference itself stays out of the message: it may hold a secret.
 */
export function parseReference({ reference = '' }: Artifact): URL {
  if (reference.length > referenceLengthMax) {
    throw new InvalidInputError(
      `reference: expected at most ${referenceLengthMax} characters, got ${reference.length}`,
    );
  }
  const url = URL.parse(reference);
  if (url === null) {
    throw new InvalidInputError(
      'Malformed URL (check the reference of the artifact): expected an absolute URL',
    );
  }
  if (!hasUserInfo(url)) return url;
  throw new InvalidInputError(
    'reference: expected a URL without user name and password: credentials are those of the artifact account',
  );
}
