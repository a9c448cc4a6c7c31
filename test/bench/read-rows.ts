import { setTimeout as sleep } from 'node:timers/promises';
import type { ConcurrencyLimit } from '#core/concurrency.ts';
import type { ApiClient } from './api-client.ts';
import { waitForText, waitUntilShown } from './application-shown.ts';
import type { BenchServer } from './bench-server.ts';
import type { BenchApplication, BenchWorld, WorldSizes } from './bench-world.ts';
import type { ClusterClient } from './cluster-access.ts';
import { type Measured, type Row, type SampleCounts, takeMemory, takeSamples } from './rows.ts';
import { measure } from './statistics.ts';

/** What Deck asks for at the same moment, when pages of an application load and each 30 seconds. */
export function listBurstPaths(application: string): string[] {
  const lists = [
    'clusters',
    'serverGroups?expand=false',
    'serverGroupManagers',
    'loadBalancers',
    'rawResources',
  ];
  return [...lists.map((list) => `/applications/${application}/${list}`), '/securityGroups'];
}

/** Objects of a Deployment of the world: itself, its ReplicaSet and its pod. */
const objectsEach = 3;

/** Milliseconds that a search of 10,000 objects may take, by the types that it is for; all of them where there is none. */
const searchAims = { serverGroups: 20, '': 60 };

/** Samples of a change that there must be, however long they take. */
const changesMin = 3;

export interface ReadContext {
  readonly server: BenchServer;
  readonly client: ApiClient;
  /** The same server, on as many connections as Gate takes for Deck's burst. */
  readonly burstClient: ApiClient;
  /** An empty server: one that answers each GET at once. */
  readonly floor: ApiClient;
  readonly burstFloor: ApiClient;
  readonly cluster: ClusterClient;
  readonly world: BenchWorld;
  /** Does work while no other server is measured. */
  readonly alone: ConcurrencyLimit;
  /** Applications that were waited for, and how it went: not every row waits anew for one that is never shown. */
  readonly shown: Map<string, Promise<void>>;
}

export interface ReadSizes extends SampleCounts {
  readonly world: WorldSizes;
  /** Milliseconds after which an application must still be shown whole, so that what was being written is. */
  readonly wholeMs: number;
  /** Milliseconds without calls before memory is read once more. */
  readonly idleMs: number;
  /** Milliseconds after which no further change is tried, when three have been shown. */
  readonly changesMs: number;
}

export const burstConnections = listBurstPaths('').length;

export function createReadRows(sizes: ReadSizes): Row<ReadContext>[] {
  const { small, medium, large } = sizes.world;
  const list = (name: string, { of, aim }: { of: keyof WorldSizes; aim: number }): Row<ReadContext> =>
    createListRow(name, { sizes, of, aim });
  return [
    list('serverGroups?expand=false', { of: 'medium', aim: 5 }),
    list('serverGroups?expand=false', { of: 'large', aim: 15 }),
    list('clusters', { of: 'large', aim: 1 }),
    list('loadBalancers', { of: 'large', aim: 1.5 }),
    list('serverGroupManagers', { of: 'large', aim: 15 }),
    {
      name: `Deck's burst of six lists, ${medium} Deployments`,
      unit: 'ms',
      aim: 40,
      measure: (context) => measureBurst(sizes, context),
    },
    // After the lists, which wait until nothing is being cached any more.
    createManifestRow({ sizes, of: 'small', aim: 4 }),
    createManifestRow({ sizes, of: 'large', aim: 8 }),
    {
      name: `memory with ${small + medium + large} Deployments cached and read`,
      unit: 'MiB',
      aim: 160,
      measure: ({ server }) => takeMemory(server),
    },
    {
      name: `processor time of ${toSeconds(sizes.idleMs)} without calls and changes`,
      unit: 'ms',
      aim: 300,
      measure: ({ server }) => measureIdling(sizes, server),
    },
    {
      name: `memory after ${toSeconds(sizes.idleMs)} without calls and changes`,
      unit: 'MiB',
      aim: 160,
      measure: ({ server }) => takeMemory(server),
    },
    ...Object.entries(searchAims).map(([type, aim]) => createSearchRow(type, { sizes, aim })),
    {
      name: 'a change in the cluster until it is shown',
      unit: 'ms',
      aim: 300,
      measure: (context) => measureChanges(sizes, context),
    },
  ];
}

function toSeconds(ms: number): string {
  return `${Math.round(ms / 1_000)} s`;
}

async function measureIdling({ idleMs }: ReadSizes, { readFigures }: BenchServer): Promise<Measured> {
  if (readFigures === undefined) throw new Error('no --peer-pid');
  const before = await readFigures();
  await sleep(idleMs);
  return { samples: [(await readFigures()).processorMs - before.processorMs] };
}

interface RowOptions {
  readonly sizes: ReadSizes;
  readonly of: keyof WorldSizes;
  readonly aim: number;
}

/** A live manifest with its events; its floor is the API server's own answer. */
function createManifestRow({ sizes, of, aim }: RowOptions): Row<ReadContext> {
  const deployments = sizes.world[of];
  return {
    name: `live manifest with events, ${deployments} Deployments in its namespace`,
    unit: 'ms',
    aim,
    async measure({ server, client, cluster, world, alone }) {
      const { name, deployment } = world[of];
      const path = `/manifests/${server.account}/${name}/${encodeURIComponent(`deployment ${deployment}`)}`;
      const { events } = JSON.parse(await client.get(path)) as { events?: unknown[] };
      if (events?.length !== 1)
        throw new Error(`GET ${path}: expected its event, not ${events?.length ?? 'none'}`);
      const direct = `/apis/apps/v1/namespaces/${name}/deployments/${deployment}`;
      return takeSamples({
        ...{ ...sizes, server, alone },
        sample: () => measure(() => client.get(path)),
        floor: () => measure(() => cluster.call({ method: 'GET', path: direct })),
      });
    },
  };
}

/** A list of an application; its floor is the answer of an empty server. */
function createListRow(list: string, { sizes, of, aim }: RowOptions): Row<ReadContext> {
  const [shown] = list.split('?');
  const suffix = list === 'loadBalancers' ? ' of an application without any' : '';
  return {
    name: `${shown}${suffix}, ${sizes.world[of]} Deployments`,
    unit: 'ms',
    aim,
    async measure(context) {
      const { server, client, floor, world, alone } = context;
      await waitUntilWhole(sizes, context, world[of]);
      const path = `/applications/${world[of].name}/${list}`;
      return takeSamples({
        ...{ ...sizes, server, alone },
        sample: () => measure(() => client.get(path)),
        floor: () => measure(() => floor.get(path)),
      });
    },
  };
}

/** A search that finds a tenth of what it looks at; its floor is the answer of an empty server. */
function createSearchRow(
  type: string,
  { sizes, aim }: { readonly sizes: ReadSizes; readonly aim: number },
): Row<ReadContext> {
  const { small, medium, large } = sizes.world;
  const deployments = small + medium + large;
  const searched = deployments * (type === '' ? objectsEach : 1);
  return {
    name: `search of ${searched} ${type === '' ? 'objects of all kinds' : type}`,
    unit: 'ms',
    aim: Math.ceil((aim * deployments * objectsEach) / 10_000),
    async measure(context) {
      const { server, client, floor, world, alone } = context;
      await waitUntilWhole(sizes, context, world.large);
      const path = `/search?q=${world.large.name}-000&type=${type}&pageSize=500`;
      return takeSamples({
        ...{ ...sizes, server, alone },
        sample: () => measure(() => client.get(path)),
        floor: () => measure(() => floor.get(path)),
      });
    },
  };
}

async function measureBurst(sizes: ReadSizes, context: ReadContext): Promise<Measured> {
  const { server, burstClient, burstFloor, world, alone } = context;
  await waitUntilWhole(sizes, context, world.medium);
  const paths = listBurstPaths(world.medium.name);
  const burst = (client: ApiClient) => () => Promise.all(paths.map((path) => client.get(path)));
  return takeSamples({
    ...{ ...sizes, server, alone },
    sample: () => measure(burst(burstClient)),
    floor: () => measure(burst(burstFloor)),
  });
}

/** Waits until an application is shown whole, and once more a while later: what was being written is then, too. */
async function waitUntilWhole(
  { wholeMs }: ReadSizes,
  { shown, server, client }: ReadContext,
  application: BenchApplication,
): Promise<void> {
  const wait = async (): Promise<void> => {
    await waitUntilShown({ server, client, application });
    await sleep(wholeMs);
    await waitUntilShown({ server, client, application });
  };
  const waiting = shown.get(application.name) ?? wait();
  shown.set(application.name, waiting);
  await waiting;
}

/** From the API server's answer to a change of a label until the application's managers show it. */
async function measureChanges(sizes: ReadSizes, context: ReadContext): Promise<Measured> {
  const { small } = context.world;
  await waitUntilWhole(sizes, context, small);
  const path = `/apis/apps/v1/namespaces/${small.name}/deployments/${small.deployment}`;
  const samples: number[] = [];
  let usedMs = 0;
  while (samples.length < sizes.samples && (samples.length < changesMin || usedMs < sizes.changesMs)) {
    const value = `at-${samples.length}-${Date.now()}`;
    const body = { metadata: { labels: { bench: value } } };
    const sampleMs = await context.alone(async () => {
      await context.cluster.call({ method: 'PATCH', path, body });
      return measure(() => waitForText(context.client, small, value));
    });
    samples.push(sampleMs);
    usedMs += sampleMs;
    // Changes come at any moment between two looks of a server that looks now and then, not always just after one.
    await sleep(Math.random() * sampleMs);
  }
  return { samples };
}
