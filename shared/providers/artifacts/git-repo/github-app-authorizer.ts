import { sign } from 'node:crypto';
import type { Clock } from '#core/clock.ts';
import { AccessDeniedError, FailedOperationError, NotFoundError } from '#core/errors.ts';
import { asString, getPath, type JsonValue } from '#core/json.ts';
import type { Authorizer } from '../download/authorization.ts';
import type { CredentialHeaders, Downloader, DownloadRequest } from '../download/downloader.ts';
import { readJsonBody } from '../download/response-body.ts';
import type { GitHubApp } from './github-app.ts';

/** GitHub accepts at most 10 minutes; the clocks of both sides may differ by a minute. */
const appTokenLifetimeS = 9 * 60;
const clockSkewS = 60;

/** An installation's token is valid for an hour. It is replaced this long before its expiry. */
const refreshAheadMs = 5 * 60_000;

/** Largest answer of GitHub about an installation or with a token, in bytes. Actual ones have some kilobytes. */
export const appAnswerBytesMax = 2 ** 20;

/** The longest accepted token from GitHub, in characters. Actual ones have some dozens. It goes into a header. */
export const appTokenLengthMax = 2_048;

/** The most installations whose tokens are kept: beyond that the oldest token is forgotten. */
export const appTokensMax = 1_000;

/** `2026-01-01T01:00:00.000+00:00`. */
const timestampLengthMax = 32;

/** The options of getting tokens. */
export interface GitHubAppAuthorizerOptions {
  readonly app: GitHubApp;
  readonly downloader: Downloader;
  readonly clock: Clock;
}

interface InstallationToken {
  readonly value: string;
  readonly expiresAtMs: number;
}

/** A repository as a URL of GitHub's API names it, percent-encoded. */
interface Repository {
  readonly owner: string;
  readonly name: string;
}

/**
 * An authorizer that reads as a GitHub App's installation. Tokens are kept until shortly before they expire; callers that need the same one
 * share one request.
 *
 * Tokens go only to GitHub's API: other URLs, which any user may name, get none, regardless of further checks. Nor do URLs without a
 * repository if the installation is found by repository.
 *
 * @throws AccessDeniedError (from the authorizer) for an owner outside `allowedOrganizations`, FailedOperationError if the app is not
 *   installed there or GitHub returns no token.
 */
export function createGitHubAppAuthorizer(options: GitHubAppAuthorizerOptions): Authorizer {
  const { app, clock } = options;
  const origin = new URL(app.apiBaseUrl).origin;
  const ready = new Map<string, InstallationToken>();
  const pending = new Map<string, Promise<InstallationToken>>();

  async function getToken(key: string, mint: () => Promise<InstallationToken>): Promise<string> {
    const known = ready.get(key);
    if (known !== undefined && known.expiresAtMs - refreshAheadMs > clock.now()) return known.value;
    const minted = pending.get(key) ?? startMint(key, mint);
    return (await minted).value;
  }

  function startMint(key: string, mint: () => Promise<InstallationToken>): Promise<InstallationToken> {
    const minted = mint()
      .then((token) => {
        ready.delete(key);
        ready.set(key, token);
        const [oldest] = ready.keys();
        if (ready.size > appTokensMax && oldest !== undefined) ready.delete(oldest);
        return token;
      })
      .finally(() => pending.delete(key));
    pending.set(key, minted);
    return minted;
  }

  return async (url) => {
    if (url.origin !== origin) return undefined;
    if (app.installationId !== undefined) {
      const { installationId } = app;
      return toHeader(await getToken('', () => mintToken(installationId, options)));
    }
    const repository = findRepository(url);
    if (repository === undefined) return undefined;
    const owner = repository.owner.toLowerCase();
    assertOwnerAllowed(owner, app);
    return toHeader(await getToken(owner, () => mintTokenFor(repository, options)));
  };
}

function toHeader(token: string): CredentialHeaders {
  return { authorization: `token ${token}` };
}

/** The repository of an API URL: the part after the path segment `repos`. */
function findRepository(url: URL): Repository | undefined {
  const [, owner, name] = /\/repos\/([^/]+)\/([^/]+)/.exec(url.pathname) ?? [];
  return owner === undefined || name === undefined ? undefined : { owner, name };
}

function assertOwnerAllowed(owner: string, { appId, allowedOrganizations }: GitHubApp): void {
  if (allowedOrganizations.length === 0 || allowedOrganizations.includes(owner)) return;
  throw new AccessDeniedError(
    `GitHub App ${appId} may not read repositories of '${owner}' (githubApp.allowedOrganizations)`,
  );
}

async function mintTokenFor(
  { owner, name }: Repository,
  options: GitHubAppAuthorizerOptions,
): Promise<InstallationToken> {
  const installation = await callAsApp({ path: `/repos/${owner}/${name}/installation` }, options);
  const id = String(getPath(installation, 'id'));
  if (/^\d{1,20}$/.test(id)) return mintToken(id, options);
  throw new FailedOperationError(`GitHub told App ${options.app.appId} no id of an installation`);
}

async function mintToken(
  installationId: string,
  options: GitHubAppAuthorizerOptions,
): Promise<InstallationToken> {
  const path = `/app/installations/${installationId}/access_tokens`;
  const answer = await callAsApp({ path, method: 'POST' }, options);
  const value = asString(getPath(answer, 'token'));
  const expiresAtMs = Date.parse(
    (asString(getPath(answer, 'expires_at')) ?? '').slice(0, timestampLengthMax),
  );
  if (isToken(value) && Number.isFinite(expiresAtMs)) return { value, expiresAtMs };
  throw new FailedOperationError(`GitHub gave App ${options.app.appId} no installation token`);
}

/** Whether GitHub's answer holds a token that is valid in a header. */
function isToken(value: string | undefined): value is string {
  return value !== undefined && value.length <= appTokenLengthMax && /^[\x21-\x7e]+$/.test(value);
}

/** Calls GitHub's API as the app itself, within the downloader's time-outs. */
async function callAsApp(
  { path, method = 'GET' }: { readonly path: string; readonly method?: 'GET' | 'POST' },
  { app, clock, downloader }: GitHubAppAuthorizerOptions,
): Promise<JsonValue | undefined> {
  const request: DownloadRequest = {
    url: new URL(app.apiBaseUrl + path),
    method,
    accept: 'application/vnd.github+json',
    credentials: { authorization: `Bearer ${signAppToken(app, clock)}` },
  };
  try {
    // A separate signal: the token is for all waiting callers, not only for the first one.
    return await readJsonBody(
      await downloader.download(request, new AbortController().signal),
      appAnswerBytesMax,
    );
  } catch (error) {
    if (!(error instanceof NotFoundError)) throw error;
    throw new FailedOperationError(
      `GitHub App ${app.appId} has no such installation at ${request.url.host}`,
      {
        cause: error,
      },
    );
  }
}

/** A JSON Web Token that identifies the app, signed with RS256. */
function signAppToken({ appId, privateKey }: GitHubApp, clock: Clock): string {
  const issuedAtS = Math.floor(clock.now() / 1000) - clockSkewS;
  const claims = { iss: appId, iat: issuedAtS, exp: issuedAtS + clockSkewS + appTokenLifetimeS };
  const content = [{ alg: 'RS256', typ: 'JWT' }, claims]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.');
  return `${content}.${sign('sha256', Buffer.from(content), privateKey).toString('base64url')}`;
}
