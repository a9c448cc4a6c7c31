import type { ConcurrencyLimit } from '#core/concurrency.ts';
import { getErrorMessage } from '#core/errors.ts';
import type { BenchServer } from './bench-server.ts';
import { type Summary, summarize } from './statistics.ts';

/** Samples that are taken together: another server has its turn between two such batches. */
const samplesTogether = 10;

/** Samples that there must be, however long they take. */
const samplesMin = 3;

export interface RowHead {
  readonly name: string;
  readonly unit: 'ms' | 'MiB' | 'KB' | 'calls' | '/s';
  /** What its median should not exceed, in its unit. */
  readonly aim?: number;
}

export interface Measured {
  readonly samples: readonly number[];
  /** The least that any server could take, measured alternately with the samples. */
  readonly floors?: readonly number[];
  /** Milliseconds of processors that the server's process used for a sample, on average. */
  readonly processorMs?: number;
}

/** A row, and how it is measured on a server. */
export interface Row<Context> extends RowHead {
  /** Where a peer is measured too, the aim is its median times this. */
  readonly peerFactor?: number;
  measure(context: Context): Promise<Measured>;
}

export interface RowResult extends RowHead {
  readonly server: string;
  readonly summary?: Summary;
  readonly floor?: Summary;
  readonly processorMs?: number;
  readonly problem?: string;
}

export interface RowTarget<Context> {
  readonly server: string;
  /** Whether others shall be as quick as it is: it has no aims itself. */
  readonly isPeer: boolean;
  /** What the rows need; or why there is none. */
  readonly context: Context | Error;
  /** What is to be said where a row fails, such as that the server has ended. */
  findEnd?(): Promise<string | undefined>;
}

/**
 * Measures rows, one after the other, each on all servers at the same time: rows have them take turns. One that fails says why, and
 * costs no other.
 *
 * @param record told of a row, server by server, as soon as all have been measured
 */
export async function measureRows<Context>(
  rows: readonly Row<Context>[],
  targets: readonly RowTarget<Context>[],
  record: (result: RowResult) => Promise<void>,
): Promise<void> {
  for (const row of rows) {
    const results = await Promise.all(targets.map((target) => measureRow(row, target)));
    const peer = results.find((result, index) => targets[index]?.isPeer && result.summary !== undefined);
    for (const [index, result] of results.entries()) {
      const aim = targets[index]?.isPeer ? undefined : findAim(row, peer?.summary);
      await record({ ...result, ...(aim !== undefined && { aim }) });
    }
  }
}

/** Measures rows of one server, one after the other: each begins where the one before has come to. */
export async function measureAlone<Context>(
  server: string,
  rows: readonly Row<Context>[],
  context: Context,
): Promise<RowResult[]> {
  const results: RowResult[] = [];
  const target = { server, isPeer: false, context };
  await measureRows(rows, [target], async (result) => void results.push(result));
  return results;
}

async function measureRow<Context>(
  { name, unit, measure }: Row<Context>,
  { server, context, findEnd }: RowTarget<Context>,
): Promise<RowResult> {
  const head = { name, unit, server };
  try {
    if (context instanceof Error) throw context;
    const { samples, floors = [], processorMs } = await measure(context);
    return {
      ...{ ...head, summary: summarize(samples) },
      ...(floors.length > 0 && { floor: summarize(floors) }),
      ...(processorMs !== undefined && { processorMs }),
    };
  } catch (error) {
    return { ...head, problem: (await findEnd?.()) ?? getErrorMessage(error) };
  }
}

function findAim({ aim, peerFactor }: Row<never>, peer: Summary | undefined): number | undefined {
  if (peerFactor === undefined || peer === undefined) return aim;
  return Math.round(peer.median * peerFactor * 10) / 10;
}

export interface SampleCounts {
  readonly samples: number;
  readonly warmUp: number;
  /** Milliseconds after which no further sample is taken, when there are three. The warm-up takes a quarter of it at most. */
  readonly budgetMs: number;
}

export interface Sampling extends SampleCounts {
  readonly server: Pick<BenchServer, 'readFigures'>;
  /** Does work while no other server is measured. */
  readonly alone: ConcurrencyLimit;
  /** Milliseconds of a sample. `index` counts from 0, those of the warm-up too. */
  sample(index: number): Promise<number>;
  /** Milliseconds of the least that any server could take, after each sample. */
  floor?(index: number): Promise<number>;
}

/**
 * Takes samples, each followed by its floor, and reads what the server's process used for them. Servers that are measured at the
 * same time take turns, ten samples each, so that what else the machine does meanwhile meets them all.
 */
export async function takeSamples(sampling: Sampling): Promise<Measured> {
  const { samples: wanted, warmUp, budgetMs, alone } = sampling;
  const first = await alone(() => takeBatch(sampling, { from: 0, count: warmUp, budgetMs: budgetMs / 4 }));
  const warmedUp = first.samples.length;
  const samples: number[] = [];
  const floors: number[] = [];
  let [usedMs, processorMs, isKnown] = [0, 0, true];
  while (samples.length < wanted && (samples.length < samplesMin || usedMs < budgetMs)) {
    const count = Math.min(samplesTogether, wanted - samples.length);
    const batch = { from: warmedUp + samples.length, count, budgetMs: budgetMs - usedMs };
    const taken = await alone(() => takeBatch(sampling, batch));
    samples.push(...taken.samples);
    floors.push(...taken.floors);
    usedMs += taken.usedMs;
    processorMs += taken.processorMs ?? 0;
    isKnown &&= taken.processorMs !== undefined;
  }
  return { samples, floors, ...(isKnown && { processorMs: processorMs / samples.length }) };
}

interface BatchOptions {
  readonly from: number;
  readonly count: number;
  readonly budgetMs: number;
}

interface Batch {
  readonly samples: number[];
  readonly floors: number[];
  /** Milliseconds that it took. */
  readonly usedMs: number;
  /** Of the server's process, for all of it. */
  readonly processorMs: number | undefined;
}

async function takeBatch(
  { server, sample, floor }: Sampling,
  { from, count, budgetMs }: BatchOptions,
): Promise<Batch> {
  const samples: number[] = [];
  const floors: number[] = [];
  const startMs = performance.now();
  const beforeMs = await readProcessorMs(server);
  for (let index = from; index < from + count; index += 1) {
    if (samples.length >= samplesMin && performance.now() - startMs > budgetMs) break;
    samples.push(await sample(index));
    if (floor !== undefined) floors.push(await floor(index));
  }
  const afterMs = await readProcessorMs(server);
  const processorMs = beforeMs === undefined || afterMs === undefined ? undefined : afterMs - beforeMs;
  return { samples, floors, usedMs: performance.now() - startMs, processorMs };
}

async function readProcessorMs({ readFigures }: Sampling['server']): Promise<number | undefined> {
  return (await readFigures?.())?.processorMs;
}

/**
 * The memory of the server's process as the only sample of a row.
 *
 * @throws Error when nobody knows which process it is
 */
export async function takeMemory({ readFigures }: Sampling['server']): Promise<Measured> {
  if (readFigures === undefined) throw new Error('no --peer-pid');
  return { samples: [(await readFigures()).memoryMiB] };
}
