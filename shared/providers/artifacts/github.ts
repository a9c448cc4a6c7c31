import { FailedOperationError, InvalidInputError } from '#core/errors.ts';
import { asString, getPath, type JsonObject } from '#core/json.ts';
import type { Artifact } from '#provider-kit/artifact.ts';
import type { ArtifactContent, ProviderContext } from '#provider-kit/provider.ts';
import { booleanField, jsonObjectField, stringField } from '#settings/coerce.ts';
import { findMember } from '#settings/spring-config.ts';
import { parseReference, startAccountDownloader } from './download/account-downloader.ts';
import {
  type ConfiguredAccount,
  type OpenedAccount,
  openConfiguredAccounts,
  parseSettings,
} from './download/account-settings.ts';
import {
  type Authorizer,
  assertCredentialsUsable,
  basicCredentialFields,
  tokenCredentialFields,
  withCredentials,
} from './download/authorization.ts';
import { createLimitedAuthorizer, limitToOrigins } from './download/credential-origins.ts';
import type { CredentialHeaders, Downloader } from './download/downloader.ts';
import type { OpenedSources, SourceOptions } from './download/source.ts';
import { parseGitHubApp } from './git-repo/github-app.ts';
import type { GitHubAppAuthorizerOptions } from './git-repo/github-app-authorizer.ts';

/**
 * The default `credentialOrigins`: GitHub's own API. An account that names a GitHub Enterprise Server does not send its token to
 * github.com.
 */
const gitHubOrigins = ['https://api.github.com'];

/** Largest description of a file, in bytes: for files up to 1 MB the contents API includes the content, in base64. */
export const fileDescriptionBytesMax = 2 * 2 ** 20;

/** The additional fields of a GitHub account. */
export const gitHubAccountFields = {
  ...basicCredentialFields,
  ...tokenCredentialFields,
  githubApp: jsonObjectField(),
  githubAPIVersion: stringField(),
  useContentAPI: booleanField(),
};

/** The options of fetching a file. */
interface GitHubClient {
  readonly authorize: Authorizer;
  readonly downloader: Downloader;
  /** The `Accept` header with which the contents API returns the file itself; undefined if it is not used that way. */
  readonly rawMediaType: string | undefined;
}

/**
 * The accounts of `artifacts.github`: files of repositories at GitHub or a GitHub Enterprise Server. The reference is
 * a URL of the contents API, the version a branch, tag or commit.
 */
export function openGitHubSources(options: SourceOptions): OpenedSources {
  return openConfiguredAccounts({ kind: 'github', types: ['github/file'], open: openGitHubAccount }, options);
}

function openGitHubAccount(account: ConfiguredAccount, options: SourceOptions): OpenedAccount {
  const { context } = account;
  const { githubApp, githubAPIVersion, useContentAPI, ...credentials } = parseSettings(
    gitHubAccountFields,
    account.settings,
    context,
  );
  assertCredentialsUsable(credentials, context, options.placement);
  const openAuthorizer = githubApp
    ? readAppAuthorizer(account, githubApp, options)
    : () => createLimitedAuthorizer(account, credentials, { ...options, originsOfType: gitHubOrigins });
  const downloader = startAccountDownloader(account, options);
  const client: GitHubClient = {
    downloader,
    authorize: openAuthorizer(downloader),
    rawMediaType: useContentAPI ? `application/vnd.github.${githubAPIVersion || 'v3'}.raw` : undefined,
  };
  return {
    fetch: (artifact, signal) => fetchFile(client, artifact, signal),
    [Symbol.asyncDispose]: () => downloader[Symbol.asyncDispose](),
  };
}

/** The tokens of an app, only for the origin of its API. Reads the settings at once, and creates the authorizer later. */
function readAppAuthorizer(
  { context, settings }: ConfiguredAccount,
  githubApp: JsonObject,
  { placement, clock }: ProviderContext,
): (downloader: Downloader) => Authorizer {
  const app = parseGitHubApp(githubApp, `${context}: githubApp`, placement);
  if (findMember(settings, 'credentialOrigins') !== undefined) {
    throw new InvalidInputError(
      `${context}: credentialOrigins: not with githubApp, whose tokens go to its apiBaseUrl alone`,
    );
  }
  const origins = new Set([new URL(app.apiBaseUrl).origin]);
  return (downloader) =>
    limitToOrigins(createAppAuthorizer({ app, downloader, clock }), {
      origins,
      setting: 'githubApp.apiBaseUrl',
      context,
    });
}

/** Loads the code for an app's tokens when the first is needed. */
function createAppAuthorizer(options: GitHubAppAuthorizerOptions): Authorizer {
  let loading: Promise<Authorizer> | undefined;
  const load = async () =>
    (await import('./git-repo/github-app-authorizer.ts')).createGitHubAppAuthorizer(options);
  return async (url, isRefused) => {
    loading ??= load();
    return (await loading)(url, isRefused);
  };
}

async function fetchFile(
  client: GitHubClient,
  artifact: Artifact,
  signal: AbortSignal,
): Promise<ArtifactContent> {
  const contentsUrl = toContentsUrl(artifact);
  return withCredentials(client.authorize, contentsUrl, (credentials) =>
    fetchContents(client, { contentsUrl, credentials }, signal),
  );
}

async function fetchContents(
  { downloader, rawMediaType }: GitHubClient,
  {
    contentsUrl,
    credentials,
  }: { readonly contentsUrl: URL; readonly credentials: CredentialHeaders | undefined },
  signal: AbortSignal,
): Promise<ArtifactContent> {
  if (rawMediaType !== undefined) {
    const request = { url: contentsUrl, accept: rawMediaType, credentials };
    return { body: await downloader.download(request, signal) };
  }
  const metadata = await downloader.download({ url: contentsUrl, credentials }, signal);
  const url = await readDownloadUrl(metadata, contentsUrl);
  // Download URLs on other hosts have a token in the query if they need one.
  const sameOrigin = url.origin === contentsUrl.origin;
  return {
    body: await downloader.download({ url, credentials: sameOrigin ? credentials : undefined }, signal),
  };
}

/** The contents-API URL with the version as `ref`; `master` by default, whatever the repository's default branch is. */
function toContentsUrl(artifact: Artifact): URL {
  const url = parseReference(artifact);
  url.searchParams.set('ref', artifact.version || 'master');
  return url;
}

async function readDownloadUrl(metadata: AsyncIterable<Uint8Array>, contentsUrl: URL): Promise<URL> {
  const { readJsonBody } = await import('./download/response-body.ts');
  const described = await readJsonBody(metadata, fileDescriptionBytesMax);
  const url = URL.parse(asString(getPath(described, 'download_url')) ?? '');
  if (url !== null) return url;
  throw new FailedOperationError(
    `${contentsUrl.host} did not tell a download URL: the reference must be the contents-API URL of a file ` +
      '(https://api.github.com/repos/OWNER/REPOSITORY/contents/PATH) that the account may read',
  );
}
