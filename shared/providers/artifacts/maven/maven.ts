import { stringField } from '#settings/coerce.ts';
import { openAccountServer } from '../download/account-server.ts';
import { type ConfiguredAccount, openConfiguredAccounts } from '../download/account-settings.ts';
import { basicCredentialFields } from '../download/authorization.ts';
import type { ArtifactSource, OpenedSources, SourceOptions } from '../download/source.ts';
import type { MavenReader } from './maven-files.ts';

const types = ['maven/file'];

/** The additional fields of an account of a Maven repository. */
export const mavenAccountFields = { repositoryUrl: stringField(), ...basicCredentialFields };

/**
 * The accounts of `artifacts.maven`: files of a Maven repository, by their coordinates. The version is found in the repository's metadata.
 */
export function openMavenSources(options: SourceOptions): OpenedSources {
  return openConfiguredAccounts({
    settings: options.settings,
    kind: 'maven',
    open: (account) => openMavenSource(account, options),
  });
}

function openMavenSource(account: ConfiguredAccount, options: SourceOptions): ArtifactSource {
  const fields = { urlKey: 'repositoryUrl', credentials: basicCredentialFields };
  const server = openAccountServer(account, fields, options);
  let reader: Promise<MavenReader> | undefined;
  // Loaded late, with an XML parser: most functions open artifact accounts, and only one downloads.
  const own = { name: account.name, server, options };
  const load = async () => (await import('./maven-files.ts')).createMavenReader(own);
  return {
    name: account.name,
    type: 'artifacts-maven',
    types,
    handles: (type) => types.includes(type),
    async fetch(artifact, signal) {
      reader ??= load();
      return { body: await (await reader).read(artifact, signal) };
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}
