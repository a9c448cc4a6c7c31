import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { createConcurrencyLimit, mapConcurrently } from '#core/concurrency.ts';
import { startSharedEngines } from '#test/acceptance/kubernetes/shared-engines.ts';
import type { TestBroker } from '#test/support/services/token-broker.ts';
import { type ApiClient, NotServedError, openApiClient } from './api-client.ts';
import type { BenchServer } from './bench-server.ts';
import type { ClusterAccess } from './cluster-access.ts';
import { type Measured, type Row, type SampleCounts, takeSamples } from './rows.ts';
import { measure } from './statistics.ts';

export interface AccountContext {
  readonly server: BenchServer;
  readonly client: ApiClient;
  /** An empty server: one that answers each GET at once. */
  readonly floor: ApiClient;
  readonly broker: TestBroker;
  readonly settings: AccountSettings;
}

export interface AccountSizes extends SampleCounts {
  /** At least 2. */
  readonly accounts: number;
}

/** Sections of settings with many accounts of one control plane, of which nothing is cached: what is measured are the accounts. */
export interface AccountSettings {
  readonly kubernetes: {
    readonly accounts: readonly { readonly name: string }[];
    readonly cache: { readonly enabled: false };
  };
  readonly busdriver: object;
}

/** Milliseconds until an account must be shown that was added, and between two looks for it. */
const shownTimeoutMs = 30_000;
const shownPauseMs = 5;

/** Accounts that are read at one time, and milliseconds of a minute. */
const readersMax = 4;
const minuteMs = 60_000;

/** Settings with one account fewer than there are to be: a server has one of its own. */
export async function createAccountSettings(
  { accounts }: AccountSizes,
  { cluster, broker }: { readonly cluster: ClusterAccess; readonly broker: TestBroker },
): Promise<AccountSettings> {
  const server = { host: cluster.server, caData: (await readFile(cluster.caFile)).toString('base64') };
  const names = Array.from({ length: accounts - 1 }, (_, index) => `team-${index}-production`);
  const common = { server, namespaces: ['default'], kinds: ['service'] };
  return {
    kubernetes: { accounts: names.map((name) => ({ name, ...common })), cache: { enabled: false } },
    busdriver: { tokenBrokers: { arcade: { url: broker.url, apiKey: broker.apiKey } } },
  };
}

export function createAccountRows(sizes: AccountSizes): Row<AccountContext>[] {
  const of = `${sizes.accounts} accounts`;
  const list = (path: string, aim: number): Row<AccountContext> => ({
    ...{ name: `${path}, ${of}`, unit: 'ms', aim },
    measure: (context) => measureList(context, { sizes, path }),
  });
  const size = (name: string, { aim, encoding }: SizeOptions): Row<AccountContext> => ({
    ...{ name: `${name}, ${of}`, unit: 'KB', aim },
    measure: async ({ client }) => ({
      samples: [(await client.getLength('/credentials', encoding)) / 1_000],
    }),
  });
  return [
    list('/credentials', 25),
    list('/credentials?expand=true', 80),
    size('size of /credentials', { aim: 300, encoding: 'identity' }),
    size('size of /credentials for who accepts gzip', { aim: 40, encoding: 'gzip' }),
    {
      ...{ name: `an added account until it is shown, ${of}`, unit: 'ms', aim: 50 },
      measure: ({ server, client }) => measureAdded({ writer: client, reader: client, sizes, server }),
    },
    {
      ...{ name: `an added account until another process shows it, ${of}`, unit: 'ms', aim: 2_000 },
      measure: (context) => measureOtherProcess(context, sizes),
    },
    {
      ...{ name: `a token broker a minute, ${of} of one provider`, unit: 'calls', aim: 1 },
      measure: measureBroker,
    },
  ];
}

interface SizeOptions {
  readonly aim: number;
  readonly encoding: 'gzip' | 'identity';
}

async function measureList(
  { server, client, floor }: AccountContext,
  { sizes, path }: { readonly sizes: AccountSizes; readonly path: string },
): Promise<Measured> {
  return takeSamples({
    ...{ ...sizes, server, alone: createConcurrencyLimit(1) },
    sample: () => measure(() => client.get(path)),
    floor: () => measure(() => floor.get(path)),
  });
}

interface AddedOptions {
  readonly writer: ApiClient;
  readonly reader: ApiClient;
  readonly sizes: AccountSizes;
  readonly server: Pick<BenchServer, 'readFigures'>;
}

/** From the POST until the first answer that has the account. */
async function measureAdded({ writer, reader, sizes, server }: AddedOptions): Promise<Measured> {
  return takeSamples({
    ...{ ...sizes, server, alone: createConcurrencyLimit(1) },
    sample: (index) =>
      measure(async () => {
        const name = `added-${index}`;
        const definition = { type: 'kubernetes', name, server: { host: 'http://127.0.0.1:1' } };
        await writer.post('/credentials', definition);
        await waitUntilShown(reader, name);
      }),
  });
}

/** @throws Error when it takes more than half a minute */
async function waitUntilShown(client: ApiClient, name: string): Promise<void> {
  const deadline = performance.now() + shownTimeoutMs;
  while (!(await isShown(client, name))) {
    if (performance.now() > deadline) throw new Error(`${name} is not shown after half a minute`);
    await sleep(shownPauseMs);
  }
}

async function isShown(client: ApiClient, name: string): Promise<boolean> {
  try {
    await client.get(`/credentials/${name}`);
    return true;
  } catch (error) {
    if (error instanceof NotServedError) return false;
    throw error;
  }
}

/** Two processes with the functions, on the same engines: one is told, the other is asked. */
async function measureOtherProcess({ settings }: AccountContext, sizes: AccountSizes): Promise<Measured> {
  await using system = await startSharedEngines(2, settings);
  const [one, other] = system.processes;
  if (one === undefined || other === undefined) throw new Error('two processes were to be started');
  await using writer = openApiClient(one.url);
  await using reader = openApiClient(other.url);
  return await measureAdded({ writer, reader, sizes, server: { readFigures: undefined } });
}

/** Reads an object live by each account, which needs its token, and counts what the broker is asked meanwhile. */
async function measureBroker({ server, broker, settings }: AccountContext): Promise<Measured> {
  await using client = openApiClient(server.url, { connections: readersMax });
  const { accounts } = settings.kubernetes;
  const callsBefore = broker.calls.length;
  const usedMs = await measure(() =>
    mapConcurrently(accounts, readersMax, ({ name }) =>
      client.get(`/manifests/${name}/default/service%20kubernetes`),
    ),
  );
  if (broker.calls.length === 0) throw new Error('the token broker was never asked');
  return { samples: [(broker.calls.length - callsBefore) / Math.max(1, usedMs / minuteMs)] };
}
