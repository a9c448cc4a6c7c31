import type { Artifact } from '#provider-kit/artifact.ts';
import type { Field } from '#settings/coerce.ts';
import { parseReference, startAccountDownloader } from './download/account-downloader.ts';
import {
  type AccountKind,
  type ConfiguredAccount,
  type OpenedAccount,
  openConfiguredAccounts,
  parseSettings,
} from './download/account-settings.ts';
import {
  assertCredentialsUsable,
  type Credentials,
  createAuthorizedReader,
} from './download/authorization.ts';
import { createLimitedAuthorizer } from './download/credential-origins.ts';
import type { CredentialHeaders } from './download/downloader.ts';
import type { OpenedSources, SourceOptions } from './download/source.ts';

/** A service whose files each take one request to the URL of the reference. */
interface FileHost extends Pick<AccountKind, 'kind' | 'types' | 'complete'> {
  /** The additional fields of an account: keys of `Credentials`. */
  readonly fields: Readonly<Record<string, Field<string | undefined>>>;
  /** The default `credentialOrigins` of accounts. Default: none, of which the log warns. */
  readonly origins?: readonly string[];
  /** The headers with a token. Default: `Authorization: token …`. */
  readonly toTokenHeaders?: (token: string) => CredentialHeaders;
  /** The URL of a file. Default: the reference. @throws InvalidInputError if the reference is not a URL. */
  toUrl?(artifact: Artifact): URL;
}

/** Opens the accounts of a service whose files are at the URLs of references. */
export function openFileHost(host: FileHost, options: SourceOptions): OpenedSources {
  return openConfiguredAccounts({ ...host, open: (...account) => openAccount(host, ...account) }, options);
}

function openAccount(host: FileHost, account: ConfiguredAccount, options: SourceOptions): OpenedAccount {
  const { context, settings } = account;
  const { fields, origins, toTokenHeaders, toUrl = parseReference } = host;
  const credentials: Credentials = parseSettings(fields, settings, context);
  assertCredentialsUsable({ ...credentials }, context, options.placement);
  const authorize = createLimitedAuthorizer(account, credentials, {
    ...options,
    toTokenHeaders,
    originsOfType: origins ?? [],
    warns: origins === undefined,
  });
  const reader = createAuthorizedReader(startAccountDownloader(account, options), authorize);
  return {
    fetch: async (artifact, signal) => ({ body: await reader.read(toUrl(artifact), signal) }),
    [Symbol.asyncDispose]: () => reader[Symbol.asyncDispose](),
  };
}
