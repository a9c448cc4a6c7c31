import { InvalidInputError, VisibleError } from '#core/errors.ts';
import type { Artifact } from '#provider-kit/artifact.ts';
import { stringField } from '#settings/coerce.ts';
import { type AccountServer, openAccountServer } from '../download/account-server.ts';
import {
  type ConfiguredAccount,
  type OpenedAccount,
  openConfiguredAccounts,
} from '../download/account-settings.ts';
import { basicCredentialFields } from '../download/authorization.ts';
import type { DocumentMemory } from '../download/document-memory.ts';
import type { OpenedSources, SourceOptions } from '../download/source.ts';
import type { HelmQuery } from './helm-job.ts';

const types = ['helm/chart', 'helm/index'];

/** The most URLs of one version of a chart that are tried. */
export const chartUrlsMax = 5;

/** The additional fields of an account of a chart repository. */
export const helmAccountFields = { repository: stringField(), ...basicCredentialFields };

/**
 * The accounts of `artifacts.helm`: charts of a repository, by name and version, and its index. Without a version it is the newest chart.
 * Archives may be on other hosts than the repository, which get no credentials.
 */
export function openHelmSources(options: SourceOptions): OpenedSources {
  return openConfiguredAccounts({ kind: 'helm', types, open: openHelmAccount }, options);
}

function openHelmAccount(account: ConfiguredAccount, options: SourceOptions): OpenedAccount {
  const server = withIndex(openAccountServer(account, 'repository', options), account.name, options);
  return {
    fetch: async (artifact, signal) => {
      const isIndex = artifact.type === 'helm/index';
      return { body: await (isIndex ? server.readIndex(signal) : readChart(server, artifact, signal)) };
    },
    listNames: (signal) => server.ask({}, signal),
    listVersions: (name, signal) => server.ask({ chart: assertNamed(name) }, signal),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

/** A repository of charts. */
interface ChartRepository extends AccountServer {
  readIndex(signal: AbortSignal): Promise<AsyncIterable<Uint8Array>>;
  /** Looks for something in the index. */
  ask(query: Omit<HelmQuery, 'host'>, signal: AbortSignal): Promise<readonly string[]>;
}

function withIndex(server: AccountServer, account: string, options: SourceOptions): ChartRepository {
  const { clock } = options;
  const { host } = server.base;
  const url = new URL('index.yaml', server.base);
  let memory: Promise<DocumentMemory> | undefined;
  const load = async () => {
    const { DocumentMemory } = await import('../download/document-memory.ts');
    return new DocumentMemory({ clock, open: server.open });
  };
  const readIndex = async (signal: AbortSignal) => {
    memory ??= load();
    return (await memory).read(url, signal);
  };
  return {
    ...server,
    readIndex,
    async ask(query, signal) {
      const { readAnswer } = await import('../download/answer-reading.ts');
      const job = {
        load: () => import('./helm-job.ts'),
        query: { ...query, host },
        account,
        options,
        signal,
      };
      return readAnswer(await readIndex(signal), job);
    },
  };
}

/** @throws InvalidInputError, in the words of Clouddriver, if no chart is named. */
function assertNamed(name: string | undefined): string {
  if (name) return name;
  throw new InvalidInputError('Artifact name field should not be empty');
}

async function readChart(
  server: ChartRepository,
  { name, version }: Artifact,
  signal: AbortSignal,
): Promise<AsyncIterable<Uint8Array>> {
  const urls = await server.ask({ chart: assertNamed(name), places: { version } }, signal);
  return readFirst(server, urls.slice(0, chartUrlsMax), signal);
}

/** The first URL that answers; if none does, throws the last one's error. */
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
