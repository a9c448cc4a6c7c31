import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'undici';
import type { Floor } from './floor.ts';
import type { CallCounts, RunningSystem } from './running-system.ts';
import { toDeployRequest } from './sample-objects.ts';
import { measure, type Summary, summarize } from './statistics.ts';

/**
 * Milliseconds between two polls of a task. Orca polls every five seconds; polling without a pause would keep the machine from
 * the work that is measured. The rows include on average half of it.
 */
const pollPauseMs = 3;

/** A row of the table. */
export interface Row {
  readonly name: string;
  /** `ms`, `MiB` or `KB`. */
  readonly unit: string;
  readonly summary: Summary;
  /** What the row must not exceed, in its unit. */
  readonly limit?: number;
  /** The bare calls of the same, measured alternately with it. */
  readonly floor?: Summary;
}

/** A client of the API over one kept connection, as Orca has it. */
export interface ApiClient extends AsyncDisposable {
  /** Posts a deploy and polls until its task is completed. @throws Error when it failed */
  deploy(options: { namespace: string; name: string; revision: number }): Promise<void>;
  /** Reads a live manifest. */
  readManifest(options: { namespace: string; name: string; includeEvents: boolean }): Promise<void>;
}

/** Opens a client. */
export function openApiClient({ url, account }: Pick<RunningSystem, 'url' | 'account'>): ApiClient {
  const pool = new Pool(url, { connections: 1 });
  const call = async (method: 'GET' | 'POST', path: string, body?: object): Promise<unknown> => {
    const headers = { 'content-type': 'application/json' };
    const answer = await pool.request({ method, path, headers, ...(body && { body: JSON.stringify(body) }) });
    const value = await answer.body.json();
    if (answer.statusCode !== 200)
      throw new Error(`${method} ${path}: ${answer.statusCode} ${JSON.stringify(value)}`);
    return value;
  };
  return {
    async deploy(options) {
      const { id } = (await call('POST', '/kubernetes/ops', toDeployRequest({ ...options, account }))) as {
        id: string;
      };
      for (;;) {
        const task = (await call('GET', `/task/${id}`)) as {
          status: { completed: boolean; failed: boolean };
        };
        if (task.status.failed) throw new Error(JSON.stringify(task));
        if (task.status.completed) return;
        await sleep(pollPauseMs);
      }
    },
    async readManifest({ namespace, name, includeEvents }) {
      const path = `/manifests/${account}/${namespace}/${encodeURIComponent(`deployment ${name}`)}`;
      await call('GET', `${path}?includeEvents=${includeEvents}`);
    },
    [Symbol.asyncDispose]: () => pool.close(),
  };
}

/** What the rows are measured on. */
export interface RowOptions {
  readonly client: ApiClient;
  readonly floor: Floor;
  readonly namespace: string;
  /** Samples of each row. */
  readonly n: number;
  /** Samples before them that do not count. */
  readonly warmUp: number;
}

/** The rows of deploys: new, unchanged and changed, each alternating with its floor. */
export async function measureDeploys({ client, floor, namespace, n, warmUp }: RowOptions): Promise<Row[]> {
  const samples = { new: [] as number[], unchanged: [] as number[], changed: [] as number[] };
  const floors = { new: [] as number[], unchanged: [] as number[], changed: [] as number[] };
  for (let index = -warmUp; index < n; index += 1) {
    const name = `bench-${index + warmUp}`;
    const own = (revision: number) => measure(() => client.deploy({ namespace, name, revision }));
    const times = {
      new: await own(1),
      newFloor: await floor.measureNew(`floor-${index + warmUp}`),
      unchanged: await own(1),
      unchangedFloor: await floor.measureUnchanged(`floor-${index + warmUp}`),
      changed: await own(2),
      changedFloor: await floor.measureChanged(`floor-${index + warmUp}`, 2),
    };
    if (index < 0) continue;
    for (const kind of ['new', 'unchanged', 'changed'] as const) {
      samples[kind].push(times[kind]);
      floors[kind].push(times[`${kind}Floor`]);
    }
  }
  const limits = { new: 25, unchanged: 15, changed: 25 };
  return (['new', 'unchanged', 'changed'] as const).map((kind) => ({
    name: `deployManifest, ${kind}: POST until completed`,
    unit: 'ms',
    summary: summarize(samples[kind]),
    floor: summarize(floors[kind]),
    limit: limits[kind],
  }));
}

/** The rows of live reads, without and with events, and their floor. */
export async function measureReads({ client, floor, namespace, n, warmUp }: RowOptions): Promise<Row[]> {
  const samples = { false: [] as number[], true: [] as number[] };
  const floors: number[] = [];
  for (let index = -warmUp; index < n; index += 1) {
    for (const includeEvents of [false, true]) {
      const time = await measure(() => client.readManifest({ namespace, name: 'bench-0', includeEvents }));
      if (index >= 0) samples[`${includeEvents}`].push(time);
    }
    const time = await floor.measureUnchanged('floor-0');
    if (index >= 0) floors.push(time);
  }
  const common = { unit: 'ms', floor: summarize(floors), limit: 5 };
  return [
    { ...common, name: 'live manifest with status', summary: summarize(samples.false) },
    { ...common, name: 'live manifest with status and events', summary: summarize(samples.true) },
  ];
}

/** The calls of one deploy of each kind, once everything is warm. */
export async function countDeployCalls(
  system: RunningSystem,
  namespace: string,
): Promise<{ readonly [kind: string]: CallCounts }> {
  await using client = openApiClient(system);
  await client.deploy({ namespace, name: 'count-warm-up', revision: 1 });
  const counts: { [kind: string]: CallCounts } = {};
  for (const [kind, revision] of Object.entries({ new: 1, unchanged: 1, changed: 2 })) {
    await settle(system);
    await client.deploy({ namespace, name: 'count', revision });
    counts[kind] = await settle(system);
  }
  return counts;
}

/** What follows completion goes on for a moment: its calls count too. Answers them once no more are made. */
async function settle(system: RunningSystem): Promise<CallCounts> {
  const sum: { [name: string]: number } = {};
  for (;;) {
    await sleep(100);
    const counts = await system.takeCounts();
    // A long poll for messages may begin at any time and says nothing.
    const made = Object.entries(counts).filter(([name]) => name !== 'ReceiveMessage');
    for (const [name, count] of Object.entries(counts)) sum[name] = (sum[name] ?? 0) + count;
    if (made.length === 0) return sum;
  }
}
