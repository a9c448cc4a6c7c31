import type { ProviderOptions } from '../../core/provider.ts';
import { findMember } from '../../core/spring-config.ts';
import { parseReference, startAccountDownloader } from './account-downloader.ts';
import {
  type ConfiguredAccount,
  describeAccount,
  openConfiguredAccounts,
  parseSettings,
} from './account-settings.ts';
import { assertCredentialsUsable, basicCredentialFields, createAuthorizer } from './authorization.ts';
import type { ArtifactSource, OpenedSources } from './source.ts';

const types = ['http/file'];

/**
 * The accounts of `artifacts.http`: files at any URL, with a user name and password or without.
 *
 * As in Clouddriver, `no-auth-http-account` is built in as long as no account has credentials.
 */
export function openHttpSources(options: ProviderOptions): OpenedSources {
  return openConfiguredAccounts({
    settings: options.settings,
    kind: 'http',
    complete: addNoAuthAccount,
    open: (account) => openHttpSource(account, options),
  });
}

function openHttpSource(account: ConfiguredAccount, options: ProviderOptions): ArtifactSource {
  const { name, context, settings } = account;
  const credentials = parseSettings(basicCredentialFields, settings, context);
  assertCredentialsUsable(credentials, context, options.placement);
  const authorize = createAuthorizer(credentials, context);
  const downloader = startAccountDownloader(account, options);
  return {
    name,
    type: 'artifacts-http',
    types,
    handles: (type) => types.includes(type),
    async fetch(artifact, signal) {
      const url = parseReference(artifact);
      return { body: await downloader.download({ url, authorization: await authorize(url) }, signal) };
    },
    [Symbol.asyncDispose]: () => downloader[Symbol.asyncDispose](),
  };
}

function addNoAuthAccount(accounts: readonly ConfiguredAccount[]): readonly ConfiguredAccount[] {
  const name = 'no-auth-http-account';
  if (accounts.some((account) => account.name === name || hasCredentials(account))) return accounts;
  return [...accounts, describeAccount({ name }, 'http', name)];
}

function hasCredentials({ settings }: ConfiguredAccount): boolean {
  return Object.keys(basicCredentialFields).some((key) => !!findMember(settings, key));
}
