import { findMember } from '#settings/spring-config.ts';
import { type ConfiguredAccount, describeAccount } from './download/account-settings.ts';
import { basicCredentialFields } from './download/authorization.ts';
import type { OpenedSources, SourceOptions } from './download/source.ts';
import { openFileHost } from './hosted-files.ts';

/**
 * The accounts of `artifacts.http`: files at any URL without credentials; with a user name and password, files at the origins that the
 * account names.
 *
 * As in Clouddriver, `no-auth-http-account` is built in while no account has credentials.
 */
export function openHttpSources(options: SourceOptions): OpenedSources {
  const complete = addNoAuthAccount;
  return openFileHost(
    { kind: 'http', types: ['http/file'], fields: basicCredentialFields, complete },
    options,
  );
}

function addNoAuthAccount(accounts: readonly ConfiguredAccount[]): readonly ConfiguredAccount[] {
  const name = 'no-auth-http-account';
  if (accounts.some((account) => account.name === name || hasCredentials(account))) return accounts;
  return [...accounts, describeAccount({ name }, 'http', name)];
}

function hasCredentials({ settings }: ConfiguredAccount): boolean {
  return Object.keys(basicCredentialFields).some((key) => !!findMember(settings, key));
}
