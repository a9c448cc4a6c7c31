import { InvalidInputError, VisibleError } from '../../core/errors.ts';
import type { Artifact } from '../../core/providers/artifact.ts';
import { stringField } from '../../core/settings/coerce.ts';
import { type AccountServer, openAccountServer } from './account-server.ts';
import { type ConfiguredAccount, openConfiguredAccounts } from './account-settings.ts';
import { basicCredentialFields } from './authorization.ts';
import { findNewestVersion } from './chart-versions.ts';
import type { DocumentMemory } from './document-memory.ts';
import type { ChartVersion } from './helm-index.ts';
import type { ArtifactSource, OpenedSources, SourceOptions } from './source.ts';

const types = ['helm/chart', 'helm/index'];

/** Most places of one version of a chart that are tried. */
export const chartUrlsMax = 5;

/** What an account of a repository of charts has besides its name and restrictions. */
export const helmAccountFields = { repository: stringField(), ...basicCredentialFields };

/**
 * The accounts of `artifacts.helm`: charts of a repository, by name and version, and its index. A chart without a version is the newest
 * one. Archives may be on other hosts than the repository, which then get no credentials.
 */
export function openHelmSources(options: SourceOptions): OpenedSources {
  return openConfiguredAccounts({
    settings: options.settings,
    kind: 'helm',
    open: (account) => openHelmSource(account, options),
  });
}

function openHelmSource(account: ConfiguredAccount, options: SourceOptions): ArtifactSource {
  const fields = { urlKey: 'repository', credentials: basicCredentialFields };
  const server = withIndex(openAccountServer(account, fields, options), options);
  return {
    name: account.name,
    type: 'artifacts-helm',
    types,
    handles: (type) => types.includes(type),
    fetch: async (artifact, signal) => {
      const isIndex = artifact.type === 'helm/index';
      return { body: await (isIndex ? server.readIndex(signal) : readChart(server, artifact, signal)) };
    },
    async listNames(signal) {
      const { readChartNames } = await loadIndexReader();
      return readChartNames(await server.readIndex(signal), server.base.host);
    },
    listVersions: async (name, signal) =>
      (await getVersions(server, name, signal)).map(({ version }) => version),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

/** Loaded late, with a parser of YAML: most functions open artifact accounts, and one reads indexes. */
function loadIndexReader() {
  return import('./helm-index.ts');
}

/** A repository of charts. */
interface ChartRepository extends AccountServer {
  readIndex(signal: AbortSignal): Promise<AsyncIterable<Uint8Array>>;
}

function withIndex(server: AccountServer, { clock }: Pick<SourceOptions, 'clock'>): ChartRepository {
  const url = new URL('index.yaml', server.base);
  let memory: Promise<DocumentMemory> | undefined;
  const load = async () => {
    const { DocumentMemory } = await import('./document-memory.ts');
    return new DocumentMemory({ clock, open: server.open });
  };
  return {
    ...server,
    async readIndex(signal) {
      memory ??= load();
      return (await memory).read(url, signal);
    },
  };
}

/** @throws InvalidInputError, in the words of Clouddriver, when no chart is named or the index does not have it. */
async function getVersions(
  server: ChartRepository,
  name: string | undefined,
  signal: AbortSignal,
): Promise<readonly ChartVersion[]> {
  if (!name) throw new InvalidInputError('Artifact name field should not be empty');
  const { readChartVersions } = await loadIndexReader();
  const versions = await readChartVersions(await server.readIndex(signal), server.base.host, name);
  if (versions !== undefined && versions.length > 0) return versions;
  throw new InvalidInputError(`Could not find correct entry with artifact name ${name}`);
}

async function readChart(
  server: ChartRepository,
  { name, version }: Artifact,
  signal: AbortSignal,
): Promise<AsyncIterable<Uint8Array>> {
  const versions = await getVersions(server, name, signal);
  const wanted = version?.trim() ? version : findNewestVersion(versions.map((chart) => chart.version));
  const urls = versions.filter((chart) => chart.version === wanted).flatMap((chart) => chart.urls);
  if (urls.length === 0) {
    throw new InvalidInputError(`Could not find correct entry with artifact version ${wanted ?? ''}`);
  }
  return readFirst(server, urls.slice(0, chartUrlsMax), signal);
}

/** The first place that answers; when none does, what the last one said. */
async function readFirst(
  server: AccountServer,
  urls: readonly string[],
  signal: AbortSignal,
): Promise<AsyncIterable<Uint8Array>> {
  let failure: unknown;
  for (const text of urls) {
    try {
      const url = URL.parse(text, server.base.href);
      if (url !== null) return await server.read(url, signal);
      failure = new InvalidInputError(`The index of ${server.base.host} has a malformed URL of the chart`);
    } catch (error) {
      if (!(error instanceof VisibleError)) throw error;
      failure = error;
    }
  }
  throw failure;
}
