import { AccessDeniedError, InvalidInputError } from '#core/errors.ts';
import { asString } from '#core/json.ts';
import type { Artifact } from '#provider-kit/artifact.ts';
import { parseReference } from '../download/account-downloader.ts';
import { formatHost, hostLengthMax } from '../download/url-guard.ts';
import type { GitAuthorization } from './git-authorization.ts';

/** The longest reference, in characters: operators' patterns are matched against it. */
export const gitReferenceLengthMax = 2_048;

/** A repository reached by SSH. */
export interface SshReference {
  /** Name or address in lower case; IPv6 without brackets. */
  readonly host: string;
  /** Undefined for SSH's default. */
  readonly port: string | undefined;
  /** Undefined for the user of the process. */
  readonly user: string | undefined;
  /** As passed to the host's shell; it does not begin with a hyphen. */
  readonly path: string;
}

/** A repository, by the way to reach it. */
export type GitReference = { readonly url: URL } | { readonly ssh: SshReference };

/** The rules for a reference, checked before any call. */
interface ReferenceRules {
  /** Empty: any. */
  readonly allowedHosts: readonly string[];
  readonly pattern: RegExp | undefined;
  readonly authType: GitAuthorization['type'];
}

/**
 * The repository that an artifact refers to.
 *
 * @throws InvalidInputError if it is invalid, or not for this account, AccessDeniedError if its host is not allowed.
 */
export function parseGitReference(artifact: Artifact, rules: ReferenceRules): GitReference {
  const { reference = '' } = artifact;
  assertReferenceFits(reference, rules);
  const isSsh = reference.startsWith('ssh://') || /^[\w.-]+@[^/:]+:|^[\w.-]+@\[/.test(reference);
  const parsed: GitReference = isSsh
    ? { ssh: parseSshReference(reference) }
    : { url: parseReference(artifact) };
  const host = 'ssh' in parsed ? parsed.ssh.host : parsed.url.hostname.toLowerCase();
  if (rules.allowedHosts.length > 0 && !rules.allowedHosts.includes(host)) {
    throw new AccessDeniedError(`Host '${formatHost(host)}' is not allowed (allowedHosts)`);
  }
  if (isSsh === (rules.authType === 'SSH')) return parsed;
  throw new InvalidInputError(
    `Git reference "${'ssh' in parsed ? reference : parsed.url.origin}" is invalid for credentials with auth type ${rules.authType}`,
  );
}

function assertReferenceFits(reference: string, { pattern }: ReferenceRules): void {
  if (reference.length > gitReferenceLengthMax) {
    throw new InvalidInputError(
      `reference: expected at most ${gitReferenceLengthMax} characters, got ${reference.length}`,
    );
  }
  if (pattern !== undefined && !pattern.test(reference)) {
    throw new InvalidInputError('reference: expected a URL that matches artifacts.gitRepo.validGitUrlRegex');
  }
}

/** `ssh://user@host:port/path`; user and port are optional. */
const longForm = /^ssh:\/\/(?:([^@/]*)@)?(\[[^\]/]*\]|[^:/@[\]]*)(?::(\d{1,5}))?(\/.*)$/;

/** `user@host:path`, where the path is relative to the user's folder unless it begins with a slash. */
const shortForm = /^([^@/:]*)@(\[[^\]/]*\]|[^:/@[\]]*):(.*)$/;

function parseSshReference(reference: string): SshReference {
  const isLong = reference.startsWith('ssh://');
  const [, user, givenHost = '', ...rest] = (isLong ? longForm : shortForm).exec(reference) ?? [];
  const [port, path = ''] = isLong ? rest : [undefined, ...rest];
  const host = normalizeHost(givenHost);
  const decoded = isLong ? decodePath(path) : path;
  const isUser = user === undefined || /^[A-Za-z0-9_][\w.-]*$/.test(user);
  const isPort = port === undefined || (Number(port) > 0 && Number(port) < 2 ** 16);
  // Some program on the way would treat text that begins with a hyphen as an option.
  const isPath = decoded !== '' && !decoded.startsWith('-') && !/\p{Cc}/u.test(decoded);
  if (host !== undefined && isUser && isPort && isPath) return { host, port, user, path: decoded };
  throw new InvalidInputError('reference: expected ssh://user@host:port/path or user@host:path');
}

/** A host in the form of URLs, so that each host has only one spelling; undefined if it is invalid. */
function normalizeHost(host: string): string | undefined {
  const name = URL.parse(`https://${host}/`)?.hostname.replace(/^\[(.*)\]$/, '$1');
  const isHost = name !== undefined && name.length <= hostLengthMax && /^[0-9a-z_][\w.:-]*$|^::/.test(name);
  return isHost ? name : undefined;
}

/** The path of a URL; `/~ann/shop` is below a user's folder. */
function decodePath(path: string): string {
  try {
    return decodeURIComponent(path).replace(/^\/~/, '~');
  } catch {
    return '';
  }
}

/** The only wanted part of the repository; empty for all of it. @throws InvalidInputError if it leads out of the repository. */
export function parseSubPath({ location, metadata }: Artifact): string {
  const text = location || asString(metadata?.['subPath']) || '';
  const names = text.split('/').filter((name) => name !== '' && name !== '.');
  if (!names.includes('..')) return names.join('/');
  throw new InvalidInputError('location: expected a path within the repository, without ..');
}
