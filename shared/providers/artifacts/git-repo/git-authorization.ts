import { InvalidInputError } from '#core/errors.ts';
import type { JsonObject } from '#core/json.ts';
import { findMember } from '#settings/spring-config.ts';
import type { ConfiguredAccount } from '../download/account-settings.ts';
import { type Authorizer, type Credentials, canAuthenticate } from '../download/authorization.ts';
import { createLimitedAuthorizer, limitToOrigins } from '../download/credential-origins.ts';
import type { CredentialHeaders, Downloader } from '../download/downloader.ts';
import type { SourceOptions } from '../download/source.ts';
import type { SshIdentity } from './git-ssh-identity.ts';
import { parseGitHubApp } from './github-app.ts';
import { createGitHubAppAuthorizer } from './github-app-authorizer.ts';

/** How an account of git authenticates. */
export interface GitAuthorization {
  /** Clouddriver's name of it, for errors. */
  readonly type: 'USER_PASS' | 'TOKEN' | 'SSH' | 'GITHUB_APP' | 'NONE';
  readonly authorize: Authorizer;
}

/** The parts of a git account that concern authentication. */
interface GitAccount {
  readonly account: ConfiguredAccount;
  readonly settings: Pick<Credentials, 'username' | 'password' | 'token' | 'tokenFile'> & {
    readonly githubApp?: JsonObject | undefined;
    readonly allowedHosts?: readonly string[] | undefined;
  };
  readonly downloader: Downloader;
  /** Its SSH key, if it has one. */
  readonly identity?: SshIdentity | undefined;
}

/**
 * How an account authenticates: by user name and password, else by a token, an SSH key, a GitHub App, or not at all. Credentials go to its
 * `credentialOrigins`, else to its `allowedHosts` over HTTPS; an app's go to the host of its API. An SSH key is never sent.
 *
 * @throws InvalidInputError naming the invalid key.
 */
export function openGitAuthorizer(git: GitAccount, options: SourceOptions): GitAuthorization {
  const { account, settings } = git;
  const { githubApp, allowedHosts = [], ...credentials } = settings;
  const { username, password, token, tokenFile } = credentials;
  const isUser = Boolean(username && password);
  const used = isUser ? { username, password } : { token, tokenFile };
  if (!canAuthenticate(used)) {
    if (git.identity !== undefined) return { type: 'SSH', authorize: async () => undefined };
    if (githubApp !== undefined) return { type: 'GITHUB_APP', authorize: openApp(git, githubApp, options) };
    return { type: 'NONE', authorize: async () => undefined };
  }
  const authorize = createLimitedAuthorizer(account, used, {
    ...options,
    toTokenHeaders: (value) => toBasic('token', value),
    originsOfType: allowedHosts.map((host) => `https://${host}`),
    warns: true,
  });
  return { type: isUser ? 'USER_PASS' : 'TOKEN', authorize };
}

function toBasic(user: string, secret: string): CredentialHeaders {
  return { authorization: `Basic ${Buffer.from(`${user}:${secret}`).toString('base64')}` };
}

/** Tokens of a GitHub App are requested for the repository's URL in the API, and sent to GitHub's git as a password. */
function openApp(
  { account: { settings, context }, downloader }: GitAccount,
  githubApp: JsonObject,
  { placement, clock }: SourceOptions,
): Authorizer {
  if (findMember(settings, 'credentialOrigins') !== undefined) {
    throw new InvalidInputError(
      `${context}: credentialOrigins: not with githubApp, whose tokens go to the host of its apiBaseUrl alone`,
    );
  }
  const app = parseGitHubApp(githubApp, `${context}: githubApp`, placement);
  const authorizeApi = createGitHubAppAuthorizer({ app, downloader, clock });
  const authorize: Authorizer = async (url, isRefused) => {
    const [, owner, name] = /^\/([^/]+)\/([^/]+?)(?:\.git)?\/?$/.exec(url.pathname) ?? [];
    if (owner === undefined || name === undefined) {
      throw new InvalidInputError('reference: expected the URL of a repository of GitHub');
    }
    const headers = await authorizeApi(new URL(`${app.apiBaseUrl}/repos/${owner}/${name}`), isRefused);
    const token = headers?.['authorization']?.replace(/^token /, '');
    return token === undefined ? undefined : toBasic('x-access-token', token);
  };
  const origins = new Set([getGitOrigin(app.apiBaseUrl)]);
  return limitToOrigins(authorize, { origins, setting: 'githubApp.apiBaseUrl', context });
}

/** GitHub's own API has a separate host; a GitHub Enterprise Server's API is on the host of its git. */
function getGitOrigin(apiBaseUrl: string): string {
  const { origin } = new URL(apiBaseUrl);
  return origin === 'https://api.github.com' ? 'https://github.com' : origin;
}
