import { InvalidInputError } from '#core/errors.ts';
import { stringField } from '#settings/coerce.ts';
import { findMember } from '#settings/spring-config.ts';
import { startAccountDownloader } from './account-downloader.ts';
import { type ConfiguredAccount, parseSettings } from './account-settings.ts';
import {
  type AuthorizedReader,
  type Authorizer,
  assertCredentialsUsable,
  basicCredentialFields,
  createAuthorizedReader,
  createAuthorizer,
} from './authorization.ts';
import type { SourceOptions } from './source.ts';
import { hasUserInfo } from './url-guard.ts';

/** A server that an account names: artifacts name places on it. Only URLs of its own origin are read with the account's credentials. */
export interface AccountServer extends AuthorizedReader {
  /** Its URL; the path ends in a slash. */
  readonly base: URL;
}

/**
 * Opens the server that an account names. Its user name and password go only to the server's origin, so there are no `credentialOrigins`;
 * the account's restrictions apply to it as to any other host.
 *
 * @param urlKey key of the account that holds the URL.
 * @throws InvalidInputError naming the missing or invalid key.
 */
export function openAccountServer(
  account: ConfiguredAccount,
  urlKey: string,
  options: SourceOptions,
): AccountServer {
  const { context, settings } = account;
  const base = readServerUrl(account, urlKey);
  assertNoOrigins(account, urlKey);
  const credentials = parseSettings(basicCredentialFields, settings, context);
  assertCredentialsUsable(credentials, context, options.placement);
  return openServer(base, createAuthorizer(credentials, account, options), { account, options });
}

/** A server whose credentials come from an authorizer. */
export function openServer(
  base: URL,
  authorize: Authorizer,
  { account, options }: { readonly account: ConfiguredAccount; readonly options: SourceOptions },
): AccountServer {
  const authorizeHere: Authorizer = async (url, isRefused) =>
    url.origin === base.origin ? authorize(url, isRefused) : undefined;
  return { base, ...createAuthorizedReader(startAccountDownloader(account, options), authorizeHere) };
}

/**
 * The URL of a server that an account names; its path ends in a slash.
 *
 * @throws InvalidInputError naming the key if it is missing, or not an http or https URL without user name, query and fragment.
 */
export function readServerUrl({ settings, context }: ConfiguredAccount, urlKey: string): URL {
  const { [urlKey]: text } = parseSettings({ [urlKey]: stringField() }, settings, context);
  const url = URL.parse(text?.trim() ?? '');
  if (url === null || !/^https?:$/.test(url.protocol) || hasUserInfo(url) || url.search || url.hash) {
    throw new InvalidInputError(
      `${context}: ${urlKey}: expected an http or https URL without user name, query and fragment`,
    );
  }
  if (!url.pathname.endsWith('/')) url.pathname += '/';
  return url;
}

/** @throws InvalidInputError if the account has `credentialOrigins` in addition to its server. */
export function assertNoOrigins({ settings, context }: ConfiguredAccount, urlKey: string): void {
  if (findMember(settings, 'credentialOrigins') === undefined) return;
  throw new InvalidInputError(
    `${context}: credentialOrigins: not for this kind, whose credentials go to its ${urlKey} alone`,
  );
}

/**
 * Checks a text that callers give as a part of a path, including slashes.
 *
 * @param field its name, for messages.
 * @throws InvalidInputError if it is empty or would end the path or lead out of it: credentials are valid for the whole server, but
 *   artifacts only below one place of it. The message does not contain the text.
 */
export function parsePathPart(text: string | undefined, field: string): string {
  if (!text) throw new InvalidInputError(`${field}: expected a value`);
  if (text.length > pathPartLengthMax) {
    throw new InvalidInputError(`${field}: expected at most ${pathPartLengthMax} characters`);
  }
  // URL parsers drop tabs and line breaks, which may hide two dots.
  const isUnsafe = /[\p{Cc}?#\\]/u.test(text) || encodedUnsafe.test(text) || text.split(slash).some(isDots);
  if (isUnsafe) {
    throw new InvalidInputError(
      `${field}: expected a part of a path without '?', '#', backslashes, control characters, '.' and '..'`,
    );
  }
  return text;
}

/** The longest part of a path that an artifact names, in characters. */
export const pathPartLengthMax = 4_096;

/** Control characters and backslashes in percent-encoding, which is sent to the server as written. */
const encodedUnsafe = /%(?:[01][\da-f]|7f|5c|c2%[89][\da-f])/i;

/** The separator of segments, for a server that decodes first. */
const slash = /\/|%2f/i;

function isDots(segment: string): boolean {
  return /^\.{1,2}$/.test(segment.replaceAll(/%2e/gi, '.'));
}
