import type { Artifact } from '#provider-kit/artifact.ts';
import { stringField } from '#settings/coerce.ts';
import { openAccountServer, parsePathPart } from './download/account-server.ts';
import { type ConfiguredAccount, openConfiguredAccounts } from './download/account-settings.ts';
import { basicCredentialFields } from './download/authorization.ts';
import type { ArtifactSource, OpenedSources, SourceOptions } from './download/source.ts';

const types = ['jenkins/file'];

/** The additional fields of a Jenkins account. */
export const jenkinsAccountFields = { address: stringField(), ...basicCredentialFields };

/**
 * The accounts of Jenkins: files archived by builds. The name of an artifact is the job's (jobs in folders as `folder/job/name`), its
 * version the build's number or `lastSuccessfulBuild`, its reference the path within the archive.
 *
 * Clouddriver has them in `jenkins.masters`, which Igor reads, too; they may also be in `artifacts.jenkins.accounts`, where deployed
 * functions that fetch artifacts look.
 */
export function openJenkinsSources(options: SourceOptions): OpenedSources {
  const open = (account: ConfiguredAccount) => openJenkinsSource(account, options);
  const { settings } = options;
  const own = openConfiguredAccounts({ settings, kind: 'jenkins', open });
  const shared = openConfiguredAccounts({
    ...{ settings, kind: 'jenkins', open },
    place: { section: 'jenkins', list: 'masters' },
  });
  const names = new Set(own.sources.map(({ name }) => name));
  return {
    sources: [...own.sources, ...shared.sources.filter(({ name }) => !names.has(name))],
    rejectedAccounts: [...own.rejectedAccounts, ...shared.rejectedAccounts],
  };
}

function openJenkinsSource(account: ConfiguredAccount, options: SourceOptions): ArtifactSource {
  const fields = { urlKey: 'address', credentials: basicCredentialFields };
  const server = openAccountServer(account, fields, options);
  return {
    name: account.name,
    type: 'artifacts-jenkins',
    types,
    handles: (type) => types.includes(type),
    fetch: async (artifact, signal) => ({
      body: await server.read(toFileUrl(artifact, server.base), signal),
    }),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

/** The URL of a build's archived file. */
function toFileUrl({ name, version, reference }: Artifact, base: URL): URL {
  const job = parsePathPart(name, 'name');
  const build = parsePathPart(version, 'version');
  const file = parsePathPart(reference, 'reference').replace(/^\//, '');
  return new URL(`${base.href}job/${job}/${build}/artifact/${file}`);
}
