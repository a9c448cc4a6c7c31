import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'undici';
import type { Floor } from './floor.ts';
import type { CallCounts, RunningSystem } from './running-system.ts';
import { toDeployRequest } from './sample-objects.ts';
import { measure, type Summary, summarize } from './statistics.ts';

/**
 * Milliseconds after which a deploy is asked about. When it was completed is told by its event on the bus, so that no poll takes
 * the process that is measured from its work.
 */
const pollPauseMs = 60;

/**
 * Milliseconds between two samples: what follows a deploy (events here, controllers in the cluster) shares the machine's cores
 * and is not what is measured.
 */
const settlePauseMs = 10;

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
  /** Posts a deploy and answers after how many milliseconds its task was completed. @throws Error when it failed */
  deploy(options: { namespace: string; name: string; revision: number }): Promise<number>;
  /** Reads a live manifest. */
  readManifest(options: { namespace: string; name: string; includeEvents: boolean }): Promise<void>;
}

/** Opens a client. */
export function openApiClient({
  url,
  account,
  getEventsPage,
}: Pick<RunningSystem, 'url' | 'account' | 'getEventsPage'>): ApiClient {
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
      const startMs = performance.timeOrigin + performance.now();
      const { id } = (await call('POST', '/kubernetes/ops', toDeployRequest({ ...options, account }))) as {
        id: string;
      };
      for (;;) {
        await sleep(pollPauseMs);
        const task = (await call('GET', `/task/${id}`)) as {
          status: { completed: boolean; failed: boolean };
        };
        if (task.status.failed) throw new Error(JSON.stringify(task));
        if (task.status.completed) break;
      }
      return findCompletion(await getEventsPage('/events'), id) - startMs;
    },
    async readManifest({ namespace, name, includeEvents }) {
      const path = `/manifests/${account}/${namespace}/${encodeURIComponent(`deployment ${name}`)}`;
      await call('GET', `${path}?includeEvents=${includeEvents}`);
    },
    [Symbol.asyncDispose]: () => pool.close(),
  };
}

/** Wall time at which a task was completed, by the latest of the events about it; whole milliseconds, so half of one is added. */
function findCompletion(page: unknown, taskId: string): number {
  const { events } = page as {
    events: {
      event: { 'detail-type': string; time: string; detail: { taskId?: string; endedAtMs?: number } };
    }[];
  };
  const end = events.findLast(({ event }) => event.detail.taskId === taskId && event.detail.endedAtMs);
  if (end?.event.detail.endedAtMs === undefined) throw new Error(`no event tells the end of task ${taskId}`);
  return end.event.detail.endedAtMs + 0.5;
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

/** What is measured of one kind of deploy, and what bounds it. */
interface DeployKind {
  readonly kind: string;
  readonly limit: number;
  readonly revision: number;
  measureFloor(name: string): Promise<number>;
}

/** The rows of deploys: new, unchanged and changed, each alternating with its floor. */
export async function measureDeploys(options: RowOptions): Promise<Row[]> {
  const { floor } = options;
  const kinds: DeployKind[] = [
    { kind: 'new', limit: 25, revision: 1, measureFloor: (name) => floor.measureNew(name) },
    { kind: 'unchanged', limit: 15, revision: 1, measureFloor: (name) => floor.measureUnchanged(name) },
    { kind: 'changed', limit: 25, revision: 2, measureFloor: (name) => floor.measureChanged(name, 2) },
  ];
  const rows: Row[] = [];
  for (const kind of kinds) rows.push(await measureDeploy(kind, options));
  return rows;
}

async function measureDeploy(
  { kind, limit, revision, measureFloor }: DeployKind,
  { client, namespace, n, warmUp }: RowOptions,
): Promise<Row> {
  const samples: number[] = [];
  const floors: number[] = [];
  for (let index = 0; index < warmUp + n; index += 1) {
    await sleep(settlePauseMs);
    const time = await client.deploy({ namespace, name: `bench-${index}`, revision });
    await sleep(settlePauseMs);
    const floor = await measureFloor(`floor-${index}`);
    if (index < warmUp) continue;
    samples.push(time);
    floors.push(floor);
  }
  return {
    name: `deployManifest, ${kind}: POST until completed`,
    unit: 'ms',
    summary: summarize(samples),
    floor: summarize(floors),
    limit,
  };
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
