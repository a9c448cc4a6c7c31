import { InvalidInputError, NotFoundError } from '#core/errors.ts';
import type { Artifact } from '#provider-kit/artifact.ts';
import { artifactAccountNotFound, cannotTell, isMeant } from '#provider-kit/artifact-account.ts';
import type {
  ArtifactAccountQuery,
  ArtifactFetcher,
  Provider,
  ProviderContext,
  ProviderPlugin,
} from '#provider-kit/provider.ts';
import { openBitbucketSources } from './bitbucket.ts';
import type { ArtifactSource, OpenedSources, OpenSources } from './download/source.ts';
import { openEmbeddedSources } from './embedded.ts';
import { openGcsSources } from './gcs.ts';
import { openGitRepoSources } from './git-repo/git-repo.ts';
import { openGitHubSources } from './github.ts';
import { openGitLabSources } from './gitlab.ts';
import { openHelmSources } from './helm/helm.ts';
import { openHelmOciSources } from './helm/helm-oci.ts';
import { openHttpSources } from './http.ts';
import { openJenkinsSources } from './jenkins.ts';
import { knownSettings } from './known-settings.ts';
import { openIvySources } from './maven/ivy.ts';
import { openMavenSources } from './maven/maven.ts';
import { openOracleSources } from './oracle.ts';
import { openPassedOnSources } from './passed-on.ts';
import { openPublicSources, toPublicSettings } from './public-accounts.ts';
import { openS3Sources } from './s3.ts';

/** Every kind of artifact account. Each is a file, and a line here. */
export const kinds: readonly OpenSources[] = [
  openBitbucketSources,
  openEmbeddedSources,
  openGcsSources,
  openGitHubSources,
  openGitLabSources,
  openGitRepoSources,
  openHelmOciSources,
  openHelmSources,
  openHttpSources,
  openIvySources,
  openJenkinsSources,
  openMavenSources,
  openOracleSources,
  openPassedOnSources,
  openS3Sources,
];

/** The provider that downloads artifacts: the accounts below `artifacts`, and the built-in ones. */
export const artifactsPlugin: ProviderPlugin = {
  name: 'artifacts',
  settingsSecret: 'artifacts',
  knownSettings,
  open: openArtifacts,
  toPublicSettings,
};

function openArtifacts(options: ProviderContext): Provider {
  const opened = openKinds(options);
  const sources = opened.flatMap((kind) => kind.sources);
  return {
    name: artifactsPlugin.name,
    rejectedAccounts: opened.flatMap((kind) => kind.rejectedAccounts),
    accountWarnings: opened.flatMap(({ warnings = [] }) => warnings),
    artifacts: createFetcher(sources),
    async [Symbol.asyncDispose]() {
      await Promise.all(sources.map((source) => source[Symbol.asyncDispose]()));
    },
  };
}

function openKinds(options: ProviderContext): readonly OpenedSources[] {
  if (options.credentials === 'withheld') {
    return [{ sources: openPublicSources(options.settings), rejectedAccounts: [] }];
  }
  return kinds.map((openSources) => openSources(options));
}

function createFetcher(sources: readonly ArtifactSource[]): ArtifactFetcher {
  return {
    accounts: sources.map(({ name, type, types }) => ({ name, type, types })),
    fetch: async (artifact, signal) => getSource(sources, artifact).fetch(artifact, signal),
    async listNames(account, signal) {
      const source = findTelling(sources, account);
      if (source.listNames === undefined) throw cannotTell(account, 'names');
      return source.listNames(signal);
    },
    async listVersions(account, artifactName, signal) {
      const source = findTelling(sources, account);
      if (source.listVersions === undefined) throw cannotTell(account, 'versions');
      return source.listVersions(artifactName, signal);
    },
  };
}

/** The account of that name; of several, one that can list its artifacts. @throws NotFoundError if there is none. */
function findTelling(sources: readonly ArtifactSource[], query: ArtifactAccountQuery): ArtifactSource {
  const meant = sources.filter((source) => isMeant(source, query));
  const source = meant.find(({ listNames }) => listNames !== undefined) ?? meant[0];
  if (source !== undefined) return source;
  throw artifactAccountNotFound(query);
}

/** The account that an artifact names, by exact name and type: accounts of different kinds may share a name. */
function getSource(
  sources: readonly ArtifactSource[],
  { artifactAccount, type = '' }: Artifact,
): ArtifactSource {
  if (!artifactAccount)
    throw new InvalidInputError('An artifact account must be supplied to download this artifact');
  const source = sources.find(({ name, handles }) => name === artifactAccount && handles(type));
  if (source !== undefined) return source;
  throw new NotFoundError(
    `Credentials '${artifactAccount}' supporting artifact type '${type}' cannot be found`,
  );
}
