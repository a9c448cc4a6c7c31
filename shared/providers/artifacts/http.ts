import type { ProviderOptions } from '#provider-kit/provider.ts';
import { findMember } from '#settings/spring-config.ts';
import { parseReference, startAccountDownloader } from './download/account-downloader.ts';
import {
  type ConfiguredAccount,
  describeAccount,
  openConfiguredAccounts,
  parseSettings,
} from './download/account-settings.ts';
import {
  type Authorizer,
  assertCredentialsUsable,
  basicCredentialFields,
  type Credentials,
  canAuthenticate,
  createAuthorizer,
  withCredentials,
} from './download/authorization.ts';
import { limitToOrigins, parseCredentialOrigins } from './download/credential-origins.ts';
import type { CredentialHeaders } from './download/downloader.ts';
import type { ArtifactSource, OpenedSources, SourceOptions } from './download/source.ts';

const types = ['http/file'];

/**
 * The accounts of `artifacts.http`: files at any URL without credentials; with a user name and password, files at the origins that the
 * account names.
 *
 * As in Clouddriver, `no-auth-http-account` is built in while no account has credentials.
 */
export function openHttpSources(options: SourceOptions): OpenedSources {
  return openConfiguredAccounts({
    settings: options.settings,
    kind: 'http',
    complete: addNoAuthAccount,
    open: (account) => openHttpSource(account, options),
  });
}

function openHttpSource(account: ConfiguredAccount, options: SourceOptions): ArtifactSource {
  const { name, context, settings } = account;
  const credentials = parseSettings(basicCredentialFields, settings, context);
  assertCredentialsUsable(credentials, context, options.placement);
  const authorize = openAuthorizer(account, credentials, options);
  const downloader = startAccountDownloader(account, options);
  return {
    name,
    type: 'artifacts-http',
    types,
    handles: (type) => types.includes(type),
    async fetch(artifact, signal) {
      const url = parseReference(artifact);
      const download = (headers?: CredentialHeaders) =>
        downloader.download({ url, credentials: headers }, signal);
      return { body: await withCredentials(authorize, url, download) };
    },
    [Symbol.asyncDispose]: () => downloader[Symbol.asyncDispose](),
  };
}

/** Limits an account with credentials to its origins: any user may name any host, which would then get them. */
function openAuthorizer(
  account: ConfiguredAccount,
  credentials: Credentials,
  { log, clock, services }: ProviderOptions,
): Authorizer {
  const { name, context } = account;
  const origins = parseCredentialOrigins(account, []);
  const secrets = { account: name, secrets: services?.secrets, clock, log };
  const authorize = createAuthorizer(credentials, context, secrets);
  if (!canAuthenticate(credentials)) return authorize;
  if (origins.size === 0) {
    log.warn('An artifact account has credentials but no credentialOrigins: it refuses every download', {
      account: name,
    });
  }
  return limitToOrigins(authorize, { origins, setting: 'credentialOrigins', context });
}

function addNoAuthAccount(accounts: readonly ConfiguredAccount[]): readonly ConfiguredAccount[] {
  const name = 'no-auth-http-account';
  if (accounts.some((account) => account.name === name || hasCredentials(account))) return accounts;
  return [...accounts, describeAccount({ name }, 'http', name)];
}

function hasCredentials({ settings }: ConfiguredAccount): boolean {
  return Object.keys(basicCredentialFields).some((key) => !!findMember(settings, key));
}
