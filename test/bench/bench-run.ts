import { type ConcurrencyLimit, createConcurrencyLimit } from '#core/concurrency.ts';
import { getErrorMessage } from '#core/errors.ts';
import { startTokenBroker } from '#test/support/services/token-broker.ts';
import {
  type AccountContext,
  type AccountSizes,
  createAccountRows,
  createAccountSettings,
} from './account-rows.ts';
import { openApiClient } from './api-client.ts';
import type { BenchMode, BenchPart } from './bench-options.ts';
import { type BenchServer, type BenchServerSource, toOwnSource } from './bench-server.ts';
import {
  deleteNamespace,
  makeApplication,
  makeNamespace,
  makeWorld,
  planApplication,
  planWorld,
  waitUntilDeleted,
  waitUntilQuiet,
} from './bench-world.ts';
import { type ClusterAccess, type ClusterClient, openClusterClient } from './cluster-access.ts';
import { createDeployRows, type DeployContext, type DeploySizes } from './deploy-rows.ts';
import { createFillRows, type FillContext, type FillSizes } from './fill-rows.ts';
import { type EmptyServer, openFloor, startEmptyServer } from './floor.ts';
import { startImageRegistry } from './image-registry.ts';
import {
  createImageRows,
  createImageSettings,
  findIdleRun,
  type ImageContext,
  type ImageSizes,
} from './image-rows.ts';
import { createLoadRows, type LoadContext, type LoadSizes } from './load-rows.ts';
import { burstConnections, createReadRows, type ReadContext, type ReadSizes } from './read-rows.ts';
import { measureRows, type Row, type RowResult, type RowTarget } from './rows.ts';

export interface BenchRunOptions {
  readonly cluster: ClusterAccess;
  readonly servers: readonly BenchServerSource[];
  readonly parts: readonly BenchPart[];
  readonly sizes: DeploySizes & LoadSizes & ReadSizes;
  /** A word of lower-case letters and digits that no run on this control plane had before. */
  readonly run: string;
  record(result: RowResult): Promise<void>;
  tell(line: string): void;
}

export interface FillRunOptions extends Omit<BenchRunOptions, 'parts' | 'sizes'> {
  readonly sizes: FillSizes;
}

export interface AccountRunOptions extends Pick<BenchRunOptions, 'cluster' | 'record'> {
  /** That of our own server. Nothing is cached. */
  readonly mode: BenchMode;
  readonly sizes: AccountSizes;
}

export interface ImageRunOptions extends Pick<BenchRunOptions, 'cluster' | 'record'> {
  /** That of our own server. Nothing of the cluster is cached. */
  readonly mode: BenchMode;
  readonly sizes: ImageSizes;
}

interface Shared extends BenchRunOptions {
  readonly client: ClusterClient;
  readonly empty: EmptyServer;
  readonly alone: ConcurrencyLimit;
}

/**
 * Measures all servers on the same control plane, row by row: first their deploys, while there is nothing to cache, then their
 * reads.
 *
 * @throws Error when the control plane fails. A server that fails has its rows say so.
 */
export async function runBench(options: BenchRunOptions): Promise<void> {
  await using client = await openClusterClient(options.cluster);
  await using empty = await startEmptyServer();
  const shared = { ...options, client, empty, alone: createConcurrencyLimit(1) };
  if (options.parts.includes('deploys')) await measureDeploys(shared);
  if (options.parts.includes('load')) await measureLoad(shared);
  if (options.parts.includes('reads')) await measureReads(shared);
}

async function measureDeploys(shared: Shared): Promise<void> {
  const { cluster, client, run, sizes, servers, alone, tell } = shared;
  tell('measuring deploys');
  // What the floor makes is not for a server's cache.
  const floors = new Map(servers.map((source, index) => [source, `bench${run}f${index}`]));
  await withNamespaces(client, [...floors.values()], async () => {
    for (const namespace of floors.values()) await makeNamespace(client, namespace);
    await measureInNamespaces(shared, 'd', {
      rows: createDeployRows(sizes),
      async createContext(server, { source, stack, namespace }): Promise<DeployContext> {
        const floor = stack.use(await openFloor(cluster, floors.get(source) ?? ''));
        return { server, client: stack.use(openApiClient(server.url)), floor, namespace, alone };
      },
    });
  });
  for (const namespace of floors.values()) await waitUntilDeleted(client, namespace);
}

async function measureLoad(shared: Shared): Promise<void> {
  shared.tell('measuring many clients at once');
  const connections = Math.max(shared.sizes.load.clients, ...shared.sizes.load.ramp);
  await measureInNamespaces(shared, 'l', {
    rows: createLoadRows(shared.sizes),
    createContext: async (server, { stack, namespace, namespaces }): Promise<LoadContext> => ({
      ...{ server, namespace, alone: shared.alone, loads: new Map() },
      settle: () => waitUntilQuiet(shared.client, namespaces),
      client: stack.use(openApiClient(server.url, { connections })),
    }),
  });
}

/** Measures each server in an empty namespace of its own. */
async function measureInNamespaces<Context>(
  shared: Shared,
  letter: string,
  {
    rows,
    createContext,
  }: {
    readonly rows: readonly Row<Context>[];
    createContext(server: BenchServer, parts: NamespaceOptions): Promise<Context>;
  },
): Promise<void> {
  const { client, run, servers } = shared;
  const namespaces = new Map(servers.map((source, index) => [source, `bench${run}${letter}${index}`]));
  await withNamespaces(client, [...namespaces.values()], async () => {
    for (const namespace of namespaces.values()) await makeNamespace(client, namespace);
    await measureServers(shared, servers, {
      rows,
      getNamespaces: (source) => [namespaces.get(source) ?? ''],
      createContext: (server, parts) => {
        const namespace = namespaces.get(parts.source) ?? '';
        return createContext(server, { ...parts, namespace, namespaces: [...namespaces.values()] });
      },
    });
  });
  // What comes next shall not share the machine with controllers that clean up.
  for (const namespace of namespaces.values()) await waitUntilDeleted(client, namespace);
}

async function measureReads(shared: Shared): Promise<void> {
  const { client, servers, sizes, empty, alone, tell } = shared;
  const plan = planWorld({ run: shared.run, sizes: sizes.world });
  const namespaces = Object.values(plan).map(({ name }) => name);
  await withNamespaces(client, namespaces, async () => {
    const world = await makeWorld({ ...shared, sizes: sizes.world });
    tell('measuring reads');
    await measureServers(shared, servers, {
      rows: createReadRows(sizes),
      getNamespaces: () => namespaces,
      async createContext(server, { stack }): Promise<ReadContext> {
        const openClient = (url: string, connections: number) =>
          stack.use(openApiClient(url, { connections }));
        return {
          ...{ server, cluster: client, world, shown: new Map(), alone },
          ...{ client: openClient(server.url, 1), floor: openClient(empty.url, 1) },
          burstClient: openClient(server.url, burstConnections),
          burstFloor: openClient(empty.url, burstConnections),
        };
      },
    });
  });
  for (const namespace of namespaces) await waitUntilDeleted(client, namespace);
}

/**
 * Measures the first fill of our own servers, one after the other, for it takes all processors.
 *
 * @param options of a control plane that nothing else is on, best one without controllers: they would make pods of their own
 * @throws Error when the control plane fails. A server that fails has its rows say so.
 */
export async function runFill(options: FillRunOptions): Promise<void> {
  const { cluster, servers, sizes, run, tell } = options;
  await using client = await openClusterClient(cluster);
  await using empty = await startEmptyServer();
  const application = planApplication({ run, ...sizes.fill });
  await withNamespaces(client, [application.name], async () => {
    await makeApplication(application, { cluster, client, tell });
    for (const source of servers) {
      tell(`${source.name}: first fill`);
      await measureServers(options, [source], {
        rows: createFillRows(sizes),
        getNamespaces: () => [application.name],
        createContext: async (server, { stack }): Promise<FillContext> => ({
          ...{ server, application, client: stack.use(openApiClient(server.url)) },
          floor: stack.use(openApiClient(empty.url)),
        }),
      });
    }
  });
}

/**
 * Measures our own server with many accounts of one control plane, whose tokens come from one broker. On the control plane it reads
 * one object, and makes none.
 */
export async function runAccounts(options: AccountRunOptions): Promise<void> {
  const { cluster, mode, sizes } = options;
  await using empty = await startEmptyServer();
  await using broker = await startTokenBroker(() => cluster.token);
  const settings = await createAccountSettings(sizes, { cluster, broker });
  const { kubernetes, busdriver } = settings;
  const source = toOwnSource(mode, cluster.kubeconfig, { ...kubernetes, settings: { busdriver } });
  await measureServers(options, [source], {
    rows: createAccountRows(sizes),
    getNamespaces: () => ['default'],
    createContext: async (server, { stack }): Promise<AccountContext> => ({
      ...{ server, broker, settings, client: stack.use(openApiClient(server.url)) },
      floor: stack.use(openApiClient(empty.url)),
    }),
  });
}

/** Measures our own server with accounts of a Docker registry that does nothing but list tags. Of the cluster it needs nothing. */
export async function runImages({ cluster, mode, sizes, record }: ImageRunOptions): Promise<void> {
  await using empty = await startEmptyServer();
  await using registry = await startImageRegistry(sizes.tagsEach);
  const settings = createImageSettings(sizes, registry);
  const source = toOwnSource(mode, cluster.kubeconfig, { settings, cache: { enabled: false } });
  await measureServers({ record }, [source], {
    rows: createImageRows(sizes),
    getNamespaces: () => ['default'],
    async createContext(server, { stack }): Promise<ImageContext> {
      const client = stack.use(openApiClient(server.url));
      const parts = { server, registry, client, floor: stack.use(openApiClient(empty.url)) };
      const idleRun = findIdleRun(parts);
      // It is the rows that tell why there is none.
      idleRun.catch(() => undefined);
      return { ...parts, idleRun };
    },
  });
}

/** Whatever comes of the work, the namespaces are deleted. */
async function withNamespaces(
  client: ClusterClient,
  namespaces: readonly string[],
  work: () => Promise<void>,
): Promise<void> {
  try {
    await work();
  } finally {
    for (const namespace of namespaces) await deleteNamespace(client, namespace);
  }
}

interface Part<Context> {
  readonly rows: readonly Row<Context>[];
  /** Those that the server's account is about, where it is our own. */
  getNamespaces(source: BenchServerSource): readonly string[];
  /** Opens what the rows need; what must be closed goes onto the stack. */
  createContext(server: BenchServer, parts: PartOptions): Promise<Context>;
}

interface PartOptions {
  readonly source: BenchServerSource;
  readonly stack: AsyncDisposableStack;
}

interface NamespaceOptions extends PartOptions {
  /** The server's own. */
  readonly namespace: string;
  /** Those of all servers. */
  readonly namespaces: readonly string[];
}

async function measureServers<Context>(
  { record }: Pick<BenchRunOptions, 'record'>,
  servers: readonly BenchServerSource[],
  { rows, getNamespaces, createContext }: Part<Context>,
): Promise<void> {
  await using stack = new AsyncDisposableStack();
  const targets: RowTarget<Context>[] = [];
  for (const source of servers) {
    const { name, isPeer } = source;
    try {
      const server = stack.use(await source.open(getNamespaces(source)));
      const context = await createContext(server, { source, stack });
      targets.push({ server: name, isPeer, context, findEnd: () => server.findEnd() });
    } catch (error) {
      targets.push({ server: name, isPeer, context: new Error(getErrorMessage(error)) });
    }
  }
  await measureRows(rows, targets, record);
}
