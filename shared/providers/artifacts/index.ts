import { InvalidInputError, NotFoundError } from '../../core/errors.ts';
import type { Artifact } from '../../core/providers/artifact.ts';
import type {
  ArtifactFetcher,
  Provider,
  ProviderOptions,
  ProviderPlugin,
} from '../../core/providers/provider.ts';
import { openEmbeddedSources } from './embedded.ts';
import { openGitHubSources } from './github.ts';
import { openHttpSources } from './http.ts';
import { openPassedOnSources } from './passed-on.ts';
import { openPublicSources, toPublicSettings } from './public-accounts.ts';
import type { ArtifactSource, OpenedSources, OpenSources } from './source.ts';

/** Every kind of artifact account. A further one is a file and a line here. */
const kinds: readonly OpenSources[] = [
  openEmbeddedSources,
  openGitHubSources,
  openHttpSources,
  openPassedOnSources,
];

/** The provider that downloads artifacts: the accounts below `artifacts`, and those built in. */
export const artifactsPlugin: ProviderPlugin = { name: 'artifacts', open: openArtifacts, toPublicSettings };

function openArtifacts(options: ProviderOptions): Provider {
  const opened = openKinds(options);
  const sources = opened.flatMap((kind) => kind.sources);
  return {
    name: artifactsPlugin.name,
    accounts: [],
    rejectedAccounts: opened.flatMap((kind) => kind.rejectedAccounts),
    operations: [],
    artifacts: createFetcher(sources),
    async [Symbol.asyncDispose]() {
      await Promise.all(sources.map((source) => source[Symbol.asyncDispose]()));
    },
  };
}

function openKinds(options: ProviderOptions): readonly OpenedSources[] {
  if (options.credentials === 'withheld') {
    return [{ sources: openPublicSources(options.settings), rejectedAccounts: [] }];
  }
  return kinds.map((openSources) => openSources(options));
}

function createFetcher(sources: readonly ArtifactSource[]): ArtifactFetcher {
  return {
    accounts: sources.map(({ name, type, types }) => ({ name, type, types })),
    fetch: async (artifact, signal) => getSource(sources, artifact).fetch(artifact, signal),
  };
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
