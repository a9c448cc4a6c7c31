import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createConcurrencyLimit, mapConcurrently } from '#core/concurrency.ts';
import { makeTempDir } from '#test/support/run/temp-dir.ts';
import { type ApiClient, openApiClient } from './api-client.ts';
import { deleteNamespace, makeNamespace } from './bench-world.ts';
import { type ClusterAccess, type ClusterClient, openClusterClient } from './cluster-access.ts';
import { readProcessFigures } from './process-figures.ts';
import { type Measured, type RowHead, type RowResult, type SampleCounts, takeSamples } from './rows.ts';
import { type RunningSystem, startRunningSystem } from './running-system.ts';
import { measure, summarize } from './statistics.ts';
import { measureRegistration } from './v1-registration.ts';

export interface V1Sizes extends SampleCounts {
  readonly pods: number;
  readonly serverGroups: number;
  readonly namespaces: number;
  /** Milliseconds without calls before a memory is read, and how often it is. */
  readonly idleMs: number;
  readonly memorySamples: number;
}

export interface V1Options {
  readonly cluster: ClusterAccess;
  readonly server: string;
  readonly sizes: V1Sizes;
  /** A word of lower-case letters and digits that no run on this control plane had before. */
  readonly run: string;
  tell(line: string): void;
}

/** Requests at a time while the world is made; pods at a time that the floor of a switch patches. */
const makersMax = 16;
const podsAtATime = 8;
const switches = { warmUp: 2, samples: 7 };
const readyTimeoutMs = 300_000;
const settlePauseMs = 20;
const lookPauseMs = 200;

interface V1Context extends V1Options {
  readonly client: ClusterClient;
  /** The namespaces of deploys, of their floor, of nothing, and of the application that is read, which is named like it. */
  readonly deploys: string;
  readonly floors: string;
  readonly empty: string;
  readonly filled: string;
}

export async function measureV1(options: V1Options): Promise<RowResult[]> {
  const { cluster, run, server, sizes } = options;
  await using client = await openClusterClient(cluster, makersMax);
  const namespaces = {
    deploys: `bench${run}d`,
    floors: `bench${run}f`,
    empty: `bench${run}e`,
    filled: `bench${run}v`,
  };
  const context = { ...options, ...namespaces, client };
  const { deploys, floors, filled } = namespaces;
  const rows: readonly (readonly [RowHead, () => Promise<Measured>])[] = [
    [
      { name: 'createServerGroup of a ReplicationController: POST to completed', unit: 'ms', aim: 30 },
      () => withSystem(context, [deploys, floors], (system) => measureCreation(context, system)),
    ],
    [
      { name: `enableServerGroup of ${sizes.pods} pods`, unit: 'ms', aim: 1_500 },
      () => withSystem(context, [deploys], (system) => measureSwitch(context, system)),
    ],
    [
      { name: `serverGroups, ${sizes.serverGroups} ReplicationControllers`, unit: 'ms', aim: 60 },
      () => withSystem(context, [filled], (system) => measureList(context, system)),
    ],
    [
      {
        name: `memory with ${sizes.serverGroups} ReplicationControllers cached, above none`,
        unit: 'MiB',
        aim: 10,
      },
      () => measureMemory(context),
    ],
  ];
  try {
    for (const namespace of Object.values(namespaces)) await makeNamespace(client, namespace);
    await makeServerGroups(context);
    const results: RowResult[] = [];
    for (const [head, measureRow] of rows) results.push(toResult(head, server, await measureRow()));
    return [...results, ...(await measureRegistration({ ...options, namespaces: sizes.namespaces }, client))];
  } finally {
    for (const namespace of Object.values(namespaces)) await deleteNamespace(client, namespace);
  }
}

function toResult(head: RowHead, server: string, { samples, floors = [], processorMs }: Measured): RowResult {
  return {
    ...{ ...head, server, summary: summarize(samples) },
    ...(floors.length > 0 && { floor: summarize(floors) }),
    ...(processorMs !== undefined && { processorMs }),
  };
}

/** The system has one account, of V1, with these namespaces. */
async function withSystem<T>(
  { cluster }: Pick<V1Context, 'cluster'>,
  namespaces: readonly string[],
  work: (system: RunningSystem) => Promise<T>,
): Promise<T> {
  await using dir = await makeTempDir();
  const account = {
    ...{ providerVersion: 'v1', serverGroupKind: 'ReplicationController', namespaces },
    dockerRegistries: [{ accountName: 'hub' }],
  };
  const place = { dir: join(dir.path, 'system'), kubeconfig: cluster.kubeconfig };
  await using system = await startRunningSystem({ ...place, account });
  // Without 'await' the system would be stopped while it is being measured.
  return await work(system);
}

async function measureCreation(
  { cluster, deploys, floors, sizes }: V1Context,
  system: RunningSystem,
): Promise<Measured> {
  await using api = openApiClient(system.url);
  await using floorClient = await openClusterClient(cluster, 2);
  return await takeSamples({
    ...{ ...sizes, alone: createConcurrencyLimit(1) },
    server: { readFigures: () => readProcessFigures(system.pid) },
    async sample() {
      await sleep(settlePauseMs);
      return api.deploy([{ createServerGroup: describeServerGroup(system, deploys, 0) }]);
    },
    async floor(index) {
      await sleep(settlePauseMs);
      return measure(() => createDirectly(floorClient, floors, index));
    },
  });
}

/** What a creation cannot do without: both kinds of server groups are listed, and one is made. */
async function createDirectly(client: ClusterClient, namespace: string, index: number): Promise<void> {
  const path = `/api/v1/namespaces/${namespace}/replicationcontrollers`;
  await Promise.all([
    client.call({ method: 'GET', path }),
    client.call({ method: 'GET', path: `/apis/apps/v1/namespaces/${namespace}/replicasets` }),
  ]);
  await client.call({ method: 'POST', path, body: toController(`floor-v${index}`) });
}

async function measureSwitch(context: V1Context, system: RunningSystem): Promise<Measured> {
  const { cluster, deploys, sizes, tell } = context;
  await using api = openApiClient(system.url);
  await using floorClient = await openClusterClient(cluster, podsAtATime);
  tell(`making ${sizes.pods} pods`);
  const description = describeServerGroup(system, deploys, sizes.pods);
  await api.deploy([{ createServerGroup: { ...description, application: 'pods' } }]);
  const names = await waitForPods(context);
  const target = { account: system.account, namespace: deploys, serverGroupName: 'pods-v000' };
  const samples: number[] = [];
  const floors: number[] = [];
  for (let index = 0; index < switches.warmUp + switches.samples; index += 1) {
    await api.deploy([{ disableServerGroup: target }]);
    await sleep(settlePauseMs);
    const enabledMs = await api.deploy([{ enableServerGroup: target }]);
    const floorMs = await measure(() => patchDirectly(floorClient, { namespace: deploys, names, index }));
    if (index < switches.warmUp) continue;
    samples.push(enabledMs);
    floors.push(floorMs);
  }
  return { samples, floors };
}

async function waitForPods({ client, deploys, sizes }: V1Context): Promise<string[]> {
  const deadline = performance.now() + readyTimeoutMs;
  const path = `/api/v1/namespaces/${deploys}/pods`;
  for (;;) {
    const { items } = (await client.call({ method: 'GET', path })) as {
      items: { metadata: { name: string }; status: { phase: string } }[];
    };
    if (items.filter(({ status }) => status.phase === 'Running').length === sizes.pods)
      return items.map(({ metadata }) => metadata.name);
    if (performance.now() > deadline) throw new Error(`${items.length} of ${sizes.pods} pods are there`);
    await sleep(lookPauseMs);
  }
}

interface Patches {
  readonly namespace: string;
  readonly names: readonly string[];
  readonly index: number;
}

/** What a switch cannot do without: each pod is patched. */
async function patchDirectly(client: ClusterClient, { namespace, names, index }: Patches): Promise<void> {
  await mapConcurrently(names, podsAtATime, (name) =>
    client.call({
      ...{ method: 'PATCH', path: `/api/v1/namespaces/${namespace}/pods/${name}` },
      body: { metadata: { labels: { bench: String(index) } } },
    }),
  );
}

async function measureList({ filled, sizes }: V1Context, system: RunningSystem): Promise<Measured> {
  await using api = openApiClient(system.url);
  const path = `/applications/${filled}/serverGroups`;
  await waitUntil(async () => countListed(await api.get(path)) === sizes.serverGroups);
  return await takeSamples({
    ...{ ...sizes, alone: createConcurrencyLimit(1) },
    server: { readFigures: () => readProcessFigures(system.pid) },
    sample: () => measure(() => api.get(path)),
  });
}

/** A process with them beside one without, several times: what is in use of a heap differs from start to start. */
async function measureMemory(context: V1Context): Promise<Measured> {
  const samples: number[] = [];
  for (let count = 0; count < context.sizes.memorySamples; count += 1) {
    const withNone = await readMemory(context, context.empty);
    const withAll = await readMemory(context, context.filled);
    samples.push(Math.max(0, withAll - withNone));
  }
  return { samples };
}

async function readMemory(context: V1Context, namespace: string): Promise<number> {
  return withSystem(context, [namespace], async (system) => {
    await using api = openApiClient(system.url);
    await waitUntil(() => isCached(api));
    await sleep(context.sizes.idleMs);
    return (await readProcessFigures(system.pid)).memoryMiB;
  });
}

/** Whether the account has been read to its end. Views are not asked for: what they decode is kept for a while. */
async function isCached(api: ApiClient): Promise<boolean> {
  const agents = JSON.parse(await api.get('/cache/introspection')) as { name: string; asOf?: number }[];
  return agents.some(({ name, asOf }) => name.startsWith('KubernetesV1CachingAgent') && asOf !== undefined);
}

/** @throws Error when it takes more than five minutes */
async function waitUntil(isSo: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + readyTimeoutMs;
  while (!(await isSo())) {
    if (performance.now() > deadline) throw new Error('what is measured is not cached after five minutes');
    await sleep(lookPauseMs);
  }
}

function countListed(text: string): number {
  return (JSON.parse(text) as unknown[]).length;
}

async function makeServerGroups({ client, filled, sizes, tell }: V1Context): Promise<void> {
  tell(`making ${sizes.serverGroups} ReplicationControllers`);
  const path = `/api/v1/namespaces/${filled}/replicationcontrollers`;
  const indexes = Array.from({ length: sizes.serverGroups }, (_, index) => index);
  await mapConcurrently(indexes, makersMax, (index) => {
    const name = `${filled}-v${String(index).padStart(3, '0')}`;
    return client.call({ method: 'POST', path, body: toController(name) });
  });
}

/** A ReplicationController as V1 makes it, without pods. */
function toController(name: string): object {
  const selector = { 'replication-controller': name };
  const handler = { httpGet: { path: '/health', port: 80 } };
  const container = {
    ...{ name: 'web', image: 'registry.test/web:1', ports: [{ name: 'http', containerPort: 80 }] },
    ...{ env: [{ name: 'STAGE', value: 'bench' }], readinessProbe: handler, livenessProbe: handler },
  };
  const labels = { ...selector, 'load-balancer-front': 'true' };
  const template = { metadata: { labels }, spec: { containers: [container] } };
  const spec = { replicas: 0, selector, template };
  return { apiVersion: 'v1', kind: 'ReplicationController', metadata: { name }, spec };
}

function describeServerGroup({ account }: RunningSystem, namespace: string, targetSize: number): object {
  const handler = { type: 'HTTP', httpGetAction: { path: '/health', port: 80, uriScheme: 'HTTP' } };
  const containers = [
    {
      ...{ name: 'web', imageDescription: { uri: 'registry.test/web:1' }, readinessProbe: { handler } },
      ports: [{ name: 'http', containerPort: 80, protocol: 'TCP' }],
    },
  ];
  const common = { account, application: 'bench', namespace, targetSize, loadBalancers: ['front'] };
  return { ...common, containers };
}
