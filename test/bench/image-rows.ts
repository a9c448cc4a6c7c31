import { setTimeout as sleep } from 'node:timers/promises';
import { createConcurrencyLimit } from '#core/concurrency.ts';
import { asJsonArray, getPath, type JsonObject, type JsonValue } from '#core/json.ts';
import type { ApiClient } from './api-client.ts';
import type { BenchServer } from './bench-server.ts';
import type { ImageRegistry } from './image-registry.ts';
import { type Measured, type Row, type SampleCounts, takeSamples } from './rows.ts';
import { measure } from './statistics.ts';

export interface ImageContext {
  /** Our own, with the accounts of {@link createImageSettings}. */
  readonly server: BenchServer;
  readonly client: ApiClient;
  /** An empty server: one that answers each GET at once. */
  readonly floor: ApiClient;
  readonly registry: ImageRegistry;
  /** The run that the rows of the wide account are about, once it has ended. */
  readonly idleRun: Promise<IdleRun>;
}

export interface ImageSizes extends SampleCounts {
  readonly accounts: number;
  readonly repositoriesEach: number;
  readonly tagsEach: number;
  /** Repositories of one more account, whose runs are looked at. */
  readonly wideRepositories: number;
}

/** A run of the wide account's agent without a change. */
export interface IdleRun {
  readonly requests: number;
  readonly writes: number;
  /** Of the server's process, while it went on. */
  readonly processorMs: number;
}

/** The account whose runs are looked at, and the seconds between them: enough for the other rows. */
const wideAccount = 'wide';
const wideIntervalSeconds = 15;

/** Milliseconds by which the times of a run may be off. Between two runs there is more. */
const roundingMs = 1_000;

/** Milliseconds until all must be cached, and until a run must have ended. */
const filledWithinMs = 120_000;
const lookPauseMs = 200;

/** Settings with the accounts; nothing of a cluster is cached beside them. */
export function createImageSettings(sizes: ImageSizes, { url }: Pick<ImageRegistry, 'url'>): JsonObject {
  const toRepositories = (account: string, count: number) =>
    Array.from({ length: count }, (_, index) => `${account}/service-${index}`);
  const common = { address: url, cacheThreads: 10 };
  const accounts = Array.from({ length: sizes.accounts }, (_, index) => ({
    ...{ ...common, name: `hub-${index}`, cacheIntervalSeconds: 600 },
    repositories: toRepositories(`hub-${index}`, sizes.repositoriesEach),
  }));
  const wide = {
    ...{ ...common, name: wideAccount, cacheIntervalSeconds: wideIntervalSeconds },
    repositories: toRepositories(wideAccount, sizes.wideRepositories),
  };
  return { dockerRegistry: { enabled: true, accounts: [...accounts, wide] } };
}

/** The rows of images: how soon they are found, and what a run costs that finds nothing new. */
export function createImageRows(sizes: ImageSizes): Row<ImageContext>[] {
  const each = sizes.repositoriesEach * sizes.tagsEach;
  const idle = (
    what: string,
    of: Pick<Row<ImageContext>, 'unit' | 'aim'>,
    read: (run: IdleRun) => number,
  ) => ({
    ...{ name: `${what} of a run without changes, ${sizes.wideRepositories} repositories`, ...of },
    measure: async ({ idleRun }: ImageContext) => ({ samples: [read(await idleRun)] }),
  });
  return [
    {
      ...{
        name: `images/find of an account, ${each} tags of ${each * sizes.accounts}`,
        unit: 'ms',
        aim: 120,
      },
      measure: (context) => measureFind(context, sizes),
    },
    idle('requests', { unit: 'calls', aim: sizes.wideRepositories }, ({ requests }) => requests),
    idle('objects written', { unit: 'calls', aim: 0 }, ({ writes }) => writes),
    idle('processor time', { unit: 'ms', aim: 3_000 }, ({ processorMs }) => processorMs),
  ];
}

async function measureFind({ server, client, floor }: ImageContext, sizes: ImageSizes): Promise<Measured> {
  const expected = sizes.repositoriesEach * sizes.tagsEach;
  const toPath = (index: number) => `/dockerRegistry/images/find?account=hub-${index % sizes.accounts}`;
  for (let index = 0; index < sizes.accounts; index += 1) {
    await waitFor(
      async () => countItems(await client.get(toPath(index))) === expected,
      `images of hub-${index}`,
    );
  }
  // The first run of the other account would be measured, too.
  await waitForRun(client, { afterMs: 0 });
  return takeSamples({
    ...{ ...sizes, server, alone: createConcurrencyLimit(1) },
    sample: (index) => measure(() => client.get(toPath(index))),
    floor: (index) => measure(() => floor.get(toPath(index))),
  });
}

function countItems(text: string): number {
  return asJsonArray(JSON.parse(text)).length;
}

interface Look {
  readonly atMs: number;
  /** Of the server's process, since it began. */
  readonly processorMs: number;
}

/** Waits for the second run of the wide account: nothing has changed since the first. */
export async function findIdleRun(context: Omit<ImageContext, 'idleRun'>): Promise<IdleRun> {
  const { server, client, registry } = context;
  const looks: Look[] = [];
  const first = await waitForRun(client, { afterMs: 0 });
  const { startedAtMs, durationMs, changes } = await waitForRun(client, {
    afterMs: first.startedAtMs,
    async look() {
      looks.push({ atMs: Date.now(), processorMs: (await server.readFigures?.())?.processorMs ?? 0 });
    },
  });
  const endedAtMs = startedAtMs + durationMs;
  const isWithin = (atMs: number) => atMs >= startedAtMs - roundingMs && atMs <= endedAtMs + roundingMs;
  const within = looks.filter(({ atMs }) => isWithin(atMs));
  return {
    requests: registry.listRequests(wideAccount).filter(isWithin).length,
    writes: changes,
    processorMs: (within.at(-1)?.processorMs ?? 0) - (within[0]?.processorMs ?? 0),
  };
}

interface WideRun {
  readonly startedAtMs: number;
  readonly durationMs: number;
  readonly changes: number;
}

/** The first successful run of the wide account that began after a time. @param look is called until then */
async function waitForRun(
  client: ApiClient,
  { afterMs, look }: { readonly afterMs: number; readonly look?: () => Promise<void> },
): Promise<WideRun> {
  let run: WideRun | undefined;
  await waitFor(async () => {
    await look?.();
    run = findLastRun(JSON.parse(await client.get('/cache/introspection')));
    return run !== undefined && run.startedAtMs > afterMs;
  }, 'a run of the agent');
  if (run === undefined) throw new Error('the run is gone');
  return run;
}

/** The last successful run of the wide account's agent. */
function findLastRun(agents: JsonValue): WideRun | undefined {
  const agent = asJsonArray(agents).find((each) => JSON.stringify(each).includes(`"${wideAccount}"`));
  const run = getPath(agent, 'lastRun');
  if (getPath(run, 'outcome') !== 'SUCCESS') return undefined;
  const [startedAtMs = 0, durationMs = 0, changes = 0] = ['started', 'durationMs', 'changes'].map((field) =>
    Number(getPath(run, field)),
  );
  return { startedAtMs, durationMs, changes };
}

/** @throws Error naming what did not come in time */
async function waitFor(isDone: () => Promise<boolean>, what: string): Promise<void> {
  const deadline = performance.now() + filledWithinMs;
  while (!(await isDone())) {
    if (performance.now() > deadline) throw new Error(`${what}: not there after two minutes`);
    await sleep(lookPauseMs);
  }
}
