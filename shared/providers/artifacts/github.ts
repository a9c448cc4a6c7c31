import { FailedOperationError, InvalidInputError } from '../../core/errors.ts';
import { asString, getPath, type JsonObject } from '../../core/json.ts';
import type { Artifact } from '../../core/providers/artifact.ts';
import type { ArtifactContent, ProviderOptions } from '../../core/providers/provider.ts';
import { booleanField, jsonObjectField, stringField } from '../../core/settings/coerce.ts';
import { findMember } from '../../core/settings/spring-config.ts';
import { parseReference, startAccountDownloader } from './account-downloader.ts';
import { type ConfiguredAccount, openConfiguredAccounts, parseSettings } from './account-settings.ts';
import {
  type Authorizer,
  assertCredentialsUsable,
  basicCredentialFields,
  type Credentials,
  canAuthenticate,
  createAuthorizer,
  tokenCredentialFields,
} from './authorization.ts';
import { limitToOrigins, parseCredentialOrigins } from './credential-origins.ts';
import type { Downloader } from './downloader.ts';
import { parseGitHubApp } from './github-app.ts';
import { createGitHubAppAuthorizer } from './github-app-authorizer.ts';
import { readJsonBody } from './response-body.ts';
import type { ArtifactSource, OpenedSources } from './source.ts';

const types = ['github/file'];

/** Where the credentials of accounts go that have no `credentialOrigins`: GitHub's own API. */
const gitHubOrigins = ['https://api.github.com'];

/** Largest description of a file, in bytes: the contents API gives one of up to 1 MB with its content, in base 64. */
export const fileDescriptionBytesMax = 2 * 2 ** 20;

const accountFields = {
  ...basicCredentialFields,
  ...tokenCredentialFields,
  githubApp: jsonObjectField(),
  githubAPIVersion: stringField(),
  useContentAPI: booleanField(),
};

/** What a file is fetched with. */
interface GitHubClient {
  readonly authorize: Authorizer;
  readonly downloader: Downloader;
  /** The `Accept` header that makes the contents API answer the file itself; undefined when it is not used so. */
  readonly rawMediaType: string | undefined;
}

/**
 * The accounts of `artifacts.github`: files of repositories at GitHub or a GitHub Enterprise Server. The reference is
 * a URL of the contents API, the version a branch, tag or commit.
 */
export function openGitHubSources(options: ProviderOptions): OpenedSources {
  return openConfiguredAccounts({
    settings: options.settings,
    kind: 'github',
    open: (account) => openGitHubSource(account, options),
  });
}

function openGitHubSource(account: ConfiguredAccount, options: ProviderOptions): ArtifactSource {
  const { name, context } = account;
  const { githubApp, githubAPIVersion, useContentAPI, ...credentials } = parseSettings(
    accountFields,
    account.settings,
    context,
  );
  assertCredentialsUsable(credentials, context, options.placement);
  const openAuthorizer = githubApp
    ? readAppAuthorizer(account, githubApp, options)
    : () => createTokenAuthorizer(account, credentials);
  const downloader = startAccountDownloader(account, options);
  const client: GitHubClient = {
    downloader,
    authorize: openAuthorizer(downloader),
    rawMediaType: useContentAPI ? `application/vnd.github.${githubAPIVersion || 'v3'}.raw` : undefined,
  };
  return {
    name,
    type: 'artifacts-github',
    types,
    handles: (type) => types.includes(type),
    fetch: (artifact, signal) => fetchFile(client, artifact, signal),
    [Symbol.asyncDispose]: () => downloader[Symbol.asyncDispose](),
  };
}

/**
 * A token, or user name and password, for the origins that the account names, else for GitHub's own API: one that names a GitHub
 * Enterprise Server does not send its token to github.com.
 */
function createTokenAuthorizer(account: ConfiguredAccount, credentials: Credentials): Authorizer {
  const authorize = createAuthorizer(credentials, account.context);
  const origins = parseCredentialOrigins(account, gitHubOrigins);
  if (!canAuthenticate(credentials)) return authorize;
  return limitToOrigins(authorize, { origins, setting: 'credentialOrigins', context: account.context });
}

/** The tokens of an app, for the origin of its API alone. Reads the settings at once, and makes the authorizer later. */
function readAppAuthorizer(
  { context, settings }: ConfiguredAccount,
  githubApp: JsonObject,
  { placement, clock }: ProviderOptions,
): (downloader: Downloader) => Authorizer {
  const app = parseGitHubApp(githubApp, `${context}: githubApp`, placement);
  if (findMember(settings, 'credentialOrigins') !== undefined) {
    throw new InvalidInputError(
      `${context}: credentialOrigins: not with githubApp, whose tokens go to its apiBaseUrl alone`,
    );
  }
  const origins = new Set([new URL(app.apiBaseUrl).origin]);
  return (downloader) =>
    limitToOrigins(createGitHubAppAuthorizer({ app, downloader, clock }), {
      origins,
      setting: 'githubApp.apiBaseUrl',
      context,
    });
}

async function fetchFile(
  client: GitHubClient,
  artifact: Artifact,
  signal: AbortSignal,
): Promise<ArtifactContent> {
  const { authorize, downloader, rawMediaType } = client;
  const contentsUrl = toContentsUrl(artifact);
  const authorization = await authorize(contentsUrl);
  if (rawMediaType !== undefined) {
    const request = { url: contentsUrl, accept: rawMediaType, authorization };
    return { body: await downloader.download(request, signal) };
  }
  const metadata = await downloader.download({ url: contentsUrl, authorization }, signal);
  const url = await readDownloadUrl(metadata, contentsUrl);
  // Download URLs on hosts of their own bring a token in the query where they need one.
  const sameOrigin = url.origin === contentsUrl.origin;
  return {
    body: await downloader.download({ url, authorization: sameOrigin ? authorization : undefined }, signal),
  };
}

/** The contents-API URL with the version as `ref`; `master` by default, whatever the repository's default branch. */
function toContentsUrl(artifact: Artifact): URL {
  const url = parseReference(artifact);
  url.searchParams.set('ref', artifact.version || 'master');
  return url;
}

async function readDownloadUrl(metadata: AsyncIterable<Uint8Array>, contentsUrl: URL): Promise<URL> {
  const described = await readJsonBody(metadata, fileDescriptionBytesMax);
  const url = URL.parse(asString(getPath(described, 'download_url')) ?? '');
  if (url !== null) return url;
  throw new FailedOperationError(
    `${contentsUrl.host} did not tell a download URL: the reference must be the contents-API URL of a file ` +
      '(https://api.github.com/repos/OWNER/REPOSITORY/contents/PATH) that the account may read',
  );
}
