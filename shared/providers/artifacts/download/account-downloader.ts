import { InvalidInputError } from '#core/errors.ts';
import { asJsonObject, type JsonObject } from '#core/json.ts';
import type { Artifact } from '#provider-kit/artifact.ts';
import { intField, jsonObjectField } from '#settings/coerce.ts';
import { getSetting, mergeDocuments } from '#settings/spring-config.ts';
import { type ConfiguredAccount, parseSettings } from './account-settings.ts';
import type { Downloader, DownloaderOptions } from './downloader.ts';
import type { SourceOptions } from './source.ts';
import { hasUserInfo } from './url-guard.ts';
import { parseUrlRestrictions, type UrlRestrictions } from './url-restrictions.ts';

/** Settings that apply to every account: `artifacts.urlRestrictions`, `artifacts.maxDownloadBytes`. */
const sharedFields = {
  urlRestrictions: jsonObjectField(),
  maxDownloadBytes: intField({ min: 1, max: Number.MAX_SAFE_INTEGER }),
};

/**
 * Starts the downloader of an account, within the restrictions from `readUrlRestrictions`.
 *
 * @param insecureOrigin a scheme, host and port for which any certificate is accepted. None by default.
 * @throws InvalidInputError naming the invalid key.
 */
export function startAccountDownloader(
  account: ConfiguredAccount,
  options: SourceOptions,
  insecureOrigin?: string,
): Downloader {
  const maxDownloadBytes = readDownloadBytesMax(options.settings);
  return startLater({
    account: account.name,
    restrictions: readUrlRestrictions(account, options.settings),
    clock: options.clock,
    randomness: options.randomness,
    log: options.log,
    insecureOrigin,
    limits: {
      ...options.limits,
      ...(maxDownloadBytes !== undefined && { bytesMax: maxDownloadBytes }),
    },
  });
}

/**
 * What an account may fetch: its `urlRestrictions` override `artifacts.urlRestrictions`, key by key.
 *
 * @throws InvalidInputError naming the invalid key.
 */
export function readUrlRestrictions(account: ConfiguredAccount, settings: JsonObject): UrlRestrictions {
  const artifacts = asJsonObject(getSetting(settings, 'artifacts')) ?? {};
  const shared = parseSettings(sharedFields, artifacts, 'artifacts');
  const own = parseSettings({ urlRestrictions: jsonObjectField() }, account.settings, account.context);
  const merged = mergeDocuments([shared.urlRestrictions ?? {}, own.urlRestrictions ?? {}]);
  return parseUrlRestrictions(merged, `${account.context}: urlRestrictions`);
}

/** Loads the downloader with the first download: most functions open artifact accounts, and only one downloads. */
function startLater(options: DownloaderOptions): Downloader {
  let starting: Promise<Downloader> | undefined;
  const start = async () => (await import('./downloader.ts')).startDownloader(options);
  const getStarted = (): Promise<Downloader> => {
    starting ??= start();
    return starting;
  };
  return {
    download: async (request, signal) => (await getStarted()).download(request, signal),
    open: async (request, signal) => (await getStarted()).open(request, signal),
    async [Symbol.asyncDispose]() {
      await (await starting)?.[Symbol.asyncDispose]();
    },
  };
}

/** The most bytes of a download, if set: `artifacts.maxDownloadBytes`. @throws InvalidInputError if it is not a number of bytes. */
export function readDownloadBytesMax(settings: JsonObject): number | undefined {
  const artifacts = asJsonObject(getSetting(settings, 'artifacts')) ?? {};
  return parseSettings(sharedFields, artifacts, 'artifacts').maxDownloadBytes;
}

/** Longest reference that is a URL, in characters: what servers accept as a request's target. */
export const referenceLengthMax = 8_192;

/**
 * The URL that an artifact refers to.
 *
 * @throws InvalidInputError if there is none, it is longer than `referenceLengthMax`, or it holds a user name or password: credentials
 *   belong to the account. The message does not contain the reference, which may hold a secret.
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
