import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, Pool, request } from 'undici';
import type { Cluster } from '../../infra/local/cluster.ts';
import { fillApplication } from '../support/fill-application.ts';
import { makeTempDir } from '../support/temp-dir.ts';
import type { Row } from './deploy-rows.ts';
import { type CallCounts, type RunningSystem, startRunningSystem } from './running-system.ts';
import { measure, summarize } from './statistics.ts';

/** What is measured, and where. */
export interface CacheRowsOptions {
  readonly cluster: Cluster;
  /** Samples of each row; those of the largest application are fewer. */
  readonly n: number;
  tell(line: string): void;
}

/** The rows, and the calls of a caching cycle in which nothing changes. */
export interface CacheReport {
  readonly rows: readonly Row[];
  readonly cycleCalls: CallCounts;
}

/** Numbers of Deployments, each with one ReplicaSet and one pod, and how long reading their server groups may take, in ms. */
const sizes: readonly { readonly deployments: number; readonly limit?: number }[] = [
  { deployments: 10 },
  { deployments: 100, limit: 8 },
  { deployments: 1000, limit: 40 },
  { deployments: 5000, limit: 200 },
];

/** The size at which cycles and memory are measured. */
const measuredSize = 1000;

/** Seconds between two cycles while they are measured: many of them in little time. */
const cycleSeconds = 2;
const cyclesSeconds = 60;
const filledWithinMs = 600_000;

/** Fills the cluster and measures what the cache costs and how fast it answers. */
export async function measureCache(options: CacheRowsOptions): Promise<CacheReport> {
  const { cluster, n, tell } = options;
  const rows: Row[] = [];
  for (const { deployments } of sizes) {
    tell(`making ${deployments} Deployments`);
    const application = toApplication(deployments);
    const namespace = application;
    await fillApplication({ ...cluster, namespace, application, deployments, podsEach: 1, report: tell });
  }
  tell('measuring cached reads');
  await using all = await startWith(options, {
    namespaces: sizes.map((size) => toApplication(size.deployments)),
  });
  for (const { deployments, limit } of sizes) {
    await waitUntilCached(all.system, deployments);
    const samples = await measureServerGroups(
      all.system,
      deployments,
      deployments > 1000 ? Math.ceil(n / 3) : n,
    );
    const name = `server groups of an application, ${deployments} Deployments`;
    rows.push({ name, unit: 'ms', summary: summarize(samples), ...(limit && { limit }) });
  }
  await all[Symbol.asyncDispose]();
  tell('measuring how soon a change is seen');
  rows.push(await measureFreshness(options));
  tell('measuring idle cycles');
  const { cycleCalls, rows: idle } = await measureCycles(options);
  return { rows: [...rows, ...idle], cycleCalls };
}

function toApplication(deployments: number): string {
  return `cached${deployments}`;
}

interface Started extends AsyncDisposable {
  readonly system: RunningSystem;
}

/** Starts a system with one account. */
async function startWith(
  { cluster }: CacheRowsOptions,
  account: object,
  more: { readonly counting?: boolean; readonly cache?: object } = {},
): Promise<Started> {
  const dir = await makeTempDir();
  const config = join(dir.path, 'clouddriver.yml');
  const accounts = [{ name: 'bench', kubeconfigFile: cluster.kubeconfig, ...account }];
  await writeFile(
    config,
    JSON.stringify({ kubernetes: { enabled: true, accounts, cache: more.cache ?? {} } }),
  );
  const { counting = false } = more;
  const system = await startRunningSystem({
    kubeconfig: cluster.kubeconfig,
    dataDir: join(dir.path, 'data'),
    config,
    counting,
  });
  let isStopped = false;
  return {
    system,
    async [Symbol.asyncDispose]() {
      if (isStopped) return;
      isStopped = true;
      await system[Symbol.asyncDispose]();
      await dir[Symbol.asyncDispose]();
    },
  };
}

async function waitUntilCached({ url }: RunningSystem, deployments: number): Promise<void> {
  const deadline = performance.now() + filledWithinMs;
  for (;;) {
    const answer = await fetch(new URL(`/applications/${toApplication(deployments)}/serverGroups`, url));
    const found = (await answer.json()) as { readonly instances: readonly unknown[] }[];
    if (found.length === deployments && found.every(({ instances }) => instances.length === 1)) return;
    if (performance.now() > deadline)
      throw new Error(`${found.length} of ${deployments} server groups are cached`);
    await sleep(500);
  }
}

/** Over one kept connection, and unpacked, as Gate reads it. */
async function measureServerGroups(
  { url }: RunningSystem,
  deployments: number,
  n: number,
): Promise<number[]> {
  const pool = new Pool(url, { connections: 1 });
  const read = async (): Promise<void> => {
    const path = `/applications/${toApplication(deployments)}/serverGroups`;
    const answer = await pool.request({ method: 'GET', path });
    await answer.body.arrayBuffer();
    if (answer.statusCode !== 200) throw new Error(`GET ${path}: ${answer.statusCode}`);
  };
  const samples: number[] = [];
  const warmUp = Math.ceil(n / 3);
  for (let index = -warmUp; index < n; index += 1) {
    const time = await measure(read);
    if (index >= 0) samples.push(time);
  }
  await pool.close();
  return samples;
}

/** From a change in the cluster until the API shows it, in stream mode. */
async function measureFreshness(options: CacheRowsOptions): Promise<Row> {
  const { cluster, n } = options;
  const application = toApplication(10);
  await using started = await startWith(options, { namespaces: [application], cacheMode: 'stream' });
  await waitUntilCached(started.system, 10);
  const samples: number[] = [];
  for (let index = 0; index < n; index += 1) {
    const value = `at-${index}-${Date.now()}`;
    await patchLabel(cluster, { namespace: application, name: `${application}-00001`, value });
    samples.push(await measure(() => waitForLabel(started.system, application, value)));
    await sleep(50);
  }
  return {
    name: 'a change until it is shown, stream mode',
    unit: 'ms',
    summary: summarize(samples),
    limit: 1000,
  };
}

async function waitForLabel({ url }: RunningSystem, application: string, value: string): Promise<void> {
  const deadline = performance.now() + 60_000;
  for (;;) {
    const answer = await fetch(new URL(`/applications/${application}/serverGroupManagers`, url));
    if ((await answer.text()).includes(value)) return;
    if (performance.now() > deadline) throw new Error(`${value} is not shown`);
    await sleep(5);
  }
}

async function patchLabel(
  { server, token, caFile }: Cluster,
  { namespace, name, value }: { namespace: string; name: string; value: string },
): Promise<void> {
  const dispatcher = new Agent({ connect: { ca: await readFile(caFile) } });
  const answer = await request(new URL(`/apis/apps/v1/namespaces/${namespace}/deployments/${name}`, server), {
    method: 'PATCH',
    dispatcher,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/merge-patch+json' },
    body: JSON.stringify({ metadata: { labels: { bench: value } } }),
  });
  await answer.body.dump();
  await dispatcher.close();
  if (answer.statusCode !== 200) throw new Error(`PATCH ${name}: ${answer.statusCode}`);
}

/** What a cycle without changes costs beyond a system that caches nothing, and what the process holds. */
async function measureCycles(options: CacheRowsOptions): Promise<CacheReport> {
  const namespaces = [toApplication(measuredSize)];
  const account = { namespaces, cacheIntervalSeconds: cycleSeconds };
  const idle = await measureIdleCpu(options, account, { cache: { enabled: false } });
  await using cached = await startWith(options, account);
  await waitUntilCached(cached.system, measuredSize);
  await measureServerGroups(cached.system, measuredSize, 20);
  const memory = await cached.system.readMemoryMiB();
  await sleep(cycleSeconds * 2_000);
  const used = await measureCpu(cached.system);
  await cached[Symbol.asyncDispose]();
  await using counting = await startWith(options, account, { counting: true });
  await waitUntilCached(counting.system, measuredSize);
  await sleep(cycleSeconds * 3_000);
  const cycleCalls = await countCycle(counting.system);
  const cycles = cyclesSeconds / cycleSeconds;
  const cpu = summarize([Math.max(0, used - idle) / cycles]);
  return {
    rows: [
      {
        name: `CPU of a cycle without changes, ${measuredSize} Deployments`,
        unit: 's',
        summary: cpu,
        limit: 0.05,
      },
      {
        name: `memory with ${measuredSize} Deployments cached, engines included`,
        unit: 'MiB',
        summary: summarize([memory]),
        limit: 250,
      },
    ],
    cycleCalls,
  };
}

async function measureIdleCpu(
  options: CacheRowsOptions,
  account: object,
  more: { readonly cache: object },
): Promise<number> {
  await using started = await startWith(options, account, more);
  await sleep(5_000);
  return measureCpu(started.system);
}

async function measureCpu(system: RunningSystem): Promise<number> {
  const before = await system.readCpuSeconds();
  await sleep(cyclesSeconds * 1_000);
  return (await system.readCpuSeconds()) - before;
}

/** Calls a cycle: those of ten, divided. */
async function countCycle(system: RunningSystem): Promise<CallCounts> {
  const cycles = 10;
  await system.takeCounts();
  await sleep(cycles * cycleSeconds * 1_000);
  const counts = Object.entries(await system.takeCounts()).filter(([name]) => name !== 'ReceiveMessage');
  return Object.fromEntries(counts.map(([name, count]) => [name, Math.round((count / cycles) * 10) / 10]));
}
