import { stringField } from '#settings/coerce.ts';
import { openAccountServer } from '../download/account-server.ts';
import {
  type ConfiguredAccount,
  type OpenedAccount,
  openConfiguredAccounts,
} from '../download/account-settings.ts';
import { basicCredentialFields } from '../download/authorization.ts';
import type { OpenedSources, SourceOptions } from '../download/source.ts';
import type { ReadMavenFile } from './maven-files.ts';

/** The additional fields of an account of a Maven repository. */
export const mavenAccountFields = { repositoryUrl: stringField(), ...basicCredentialFields };

/**
 * The accounts of `artifacts.maven`: files of a Maven repository, by their coordinates. The version is found in the repository's metadata.
 */
export function openMavenSources(options: SourceOptions): OpenedSources {
  return openConfiguredAccounts({ kind: 'maven', types: ['maven/file'], open: openMavenAccount }, options);
}

function openMavenAccount(account: ConfiguredAccount, options: SourceOptions): OpenedAccount {
  const server = openAccountServer(account, 'repositoryUrl', options);
  let reading: Promise<ReadMavenFile> | undefined;
  // Loaded late, with an XML parser: most functions open artifact accounts, and only one downloads.
  const own = { name: account.name, server, options };
  const load = async () => (await import('./maven-files.ts')).createMavenReader(own);
  return {
    async fetch(artifact, signal) {
      reading ??= load();
      return { body: await (await reading)(artifact, signal) };
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}
