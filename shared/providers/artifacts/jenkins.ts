import type { Artifact } from '#provider-kit/artifact.ts';
import { stringField } from '#settings/coerce.ts';
import { openAccountServer, parsePathPart } from './download/account-server.ts';
import {
  type ConfiguredAccount,
  type OpenedAccount,
  openConfiguredAccounts,
} from './download/account-settings.ts';
import { basicCredentialFields } from './download/authorization.ts';
import type { OpenedSources, SourceOptions } from './download/source.ts';

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
  const shared = { section: 'jenkins', list: 'masters' };
  const kind = { kind: 'jenkins', types: ['jenkins/file'], shared, open: openJenkinsAccount };
  return openConfiguredAccounts(kind, options);
}

function openJenkinsAccount(account: ConfiguredAccount, options: SourceOptions): OpenedAccount {
  const server = openAccountServer(account, 'address', options);
  return {
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
