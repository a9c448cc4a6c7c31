import type { Artifact } from '../../core/artifact.ts';
import { intField, jsonObjectField } from '../../core/coerce.ts';
import { InvalidInputError } from '../../core/errors.ts';
import { asJsonObject } from '../../core/json.ts';
import type { ProviderOptions } from '../../core/provider.ts';
import { getSetting, mergeDocuments } from '../../core/spring-config.ts';
import { type ConfiguredAccount, parseSettings } from './account-settings.ts';
import { type Downloader, startDownloader } from './downloader.ts';
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

/**
 * The URL that an artifact refers to. A user name and password in it are left out, as in Clouddriver: credentials
 * are the account's.
 *
 * @throws InvalidInputError when there is none. The reference itself stays out of the message: it may hold a secret.
 */
export function parseReference(artifact: Artifact): URL {
  const url = URL.parse(artifact.reference ?? '');
  if (url !== null) return url;
  throw new InvalidInputError(
    'Malformed URL (check the reference of the artifact): expected an absolute URL',
  );
}
