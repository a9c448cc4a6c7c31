import type { Artifact } from '#provider-kit/artifact.ts';
import type { Field } from '#settings/coerce.ts';
import { startAccountDownloader } from './download/account-downloader.ts';
import {
  type ConfiguredAccount,
  openConfiguredAccounts,
  parseSettings,
} from './download/account-settings.ts';
import {
  assertCredentialsUsable,
  type Credentials,
  canAuthenticate,
  createAuthorizer,
  withCredentials,
} from './download/authorization.ts';
import { limitToOrigins, parseCredentialOrigins } from './download/credential-origins.ts';
import type { CredentialHeaders } from './download/downloader.ts';
import type { ArtifactSource, OpenedSources, SourceOptions } from './download/source.ts';

/** A service that hosts repositories, each file of which takes one request to the URL of the reference. */
export interface FileHost {
  /** Key of its accounts below `artifacts`: `gitlab`. */
  readonly kind: string;
  /** Artifact types, such as `gitlab/file`. */
  readonly types: readonly string[];
  /** The additional fields of an account: keys of `Credentials`. */
  readonly fields: Readonly<Record<string, Field<string | undefined>>>;
  /** The default `credentialOrigins` of accounts. */
  readonly origins: readonly string[];
  /** The headers with a token. */
  toTokenHeaders(token: string): CredentialHeaders;
  /**
   * The URL of a file.
   *
   * @throws InvalidInputError if the reference is not a URL.
   */
  toUrl(artifact: Artifact): URL;
}

/** Opens the accounts of a service whose files are at the URLs of references. */
export function openFileHost(host: FileHost, options: SourceOptions): OpenedSources {
  return openConfiguredAccounts({
    settings: options.settings,
    kind: host.kind,
    open: (account) => openAccount(host, account, options),
  });
}

function openAccount(host: FileHost, account: ConfiguredAccount, options: SourceOptions): ArtifactSource {
  const { name, context, settings } = account;
  const { placement, clock, log, services } = options;
  const credentials: Credentials = parseSettings(host.fields, settings, context);
  assertCredentialsUsable({ ...credentials }, context, placement);
  const { toTokenHeaders } = host;
  const secrets = { account: name, secrets: services?.secrets, clock, log };
  const fixed = createAuthorizer(credentials, context, { ...secrets, toTokenHeaders });
  const origins = parseCredentialOrigins(account, host.origins);
  const authorize = canAuthenticate(credentials)
    ? limitToOrigins(fixed, { origins, setting: 'credentialOrigins', context })
    : fixed;
  const downloader = startAccountDownloader(account, options);
  return {
    name,
    type: `artifacts-${host.kind}`,
    types: host.types,
    handles: (type) => host.types.includes(type),
    async fetch(artifact, signal) {
      const url = host.toUrl(artifact);
      const download = (headers?: CredentialHeaders) =>
        downloader.download({ url, credentials: headers }, signal);
      return { body: await withCredentials(authorize, url, download) };
    },
    [Symbol.asyncDispose]: () => downloader[Symbol.asyncDispose](),
  };
}
