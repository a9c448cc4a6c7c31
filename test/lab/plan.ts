import { createRandom, drawInteger, drawItem, type Random } from '../support/run/seeded-random.ts';
import type { EngineService } from './engine-call.ts';
import type { Silence } from './engine-faults.ts';

/** Processes that run functions. */
export const processCount = 3;

export interface Trouble {
  readonly atMs: number;
  readonly process: number;
}

/** A process is killed, and another one takes its place. */
export interface Kill extends Trouble {
  /** It dies when the cluster has done the next thing that it asks for, before it learns of that. */
  readonly isAfterWrite: boolean;
}

/** A process stands still for a while. */
export interface Freeze extends Trouble {
  readonly ms: number;
}

/** What happens in a run and when, in milliseconds since it began. */
export interface LabPlan {
  /** When each chain of operations begins. */
  readonly beginnings: readonly number[];
  readonly kills: readonly Kill[];
  readonly freezes: readonly Freeze[];
  readonly silences: readonly Silence[];
}

export interface LabPlanOptions {
  readonly seed: number;
  readonly durationMs: number;
  readonly chains: number;
  readonly kills: number;
}

const burst = 6;

/** Shares of the duration in which something begins: the end is for what goes on. */
const begins = { least: 0.03, most: 0.8 };

/** Milliseconds between two silences, about. */
const silenceIntervalMs = 12_000;

/** The longest silence of each service, milliseconds: the bus may be silent for longer than anything holds. */
const silenceMsMax: { readonly [S in EngineService]: number } = {
  dynamodb: 8_000,
  sqs: 20_000,
  eventbridge: 40_000,
};

/** Milliseconds for which a process stands still. */
const freezeMs = { least: 1_000, most: 12_000 };

/** The same for some: longer than a lease holds. */
const longFreezeMs = { least: 32_000, most: 45_000 };

/** By how much a clock may be off, milliseconds. */
const clockOffsetMsMax = 60_000;

/** Plans a run: the same one for the same options. */
export function planRun({ seed, durationMs, chains, kills }: LabPlanOptions): LabPlan {
  const random = createRandom(seed);
  const drawTime = () => Math.round(durationMs * (begins.least + random() * (begins.most - begins.least)));
  const bursts = Array.from({ length: Math.ceil(chains / burst) }, drawTime);
  const beginnings = Array.from({ length: chains }, (_, index) => bursts[index % bursts.length] ?? 0);
  return {
    beginnings,
    kills: Array.from({ length: kills }, (_, index) => {
      const isAfterWrite = index % 2 === 0;
      const atMs = isAfterWrite ? drawItem(random, bursts) + drawInteger(random, 0, 500) : drawTime();
      return { atMs, process: drawInteger(random, 0, processCount - 1), isAfterWrite };
    }),
    freezes: Array.from({ length: Math.ceil(kills / 2) }, (_, index) => {
      const place = { process: drawInteger(random, 0, processCount - 1) };
      // Every fourth stands still for longer than a lease holds, which the end of the run must not cut off.
      if (index % 4 === 0) {
        const ms = drawInteger(random, longFreezeMs.least, longFreezeMs.most);
        return { ...place, ms, atMs: Math.min(drawTime(), Math.round(durationMs * 0.4)) };
      }
      const ms = drawInteger(random, freezeMs.least, freezeMs.most);
      return { ...place, ms, atMs: drawItem(random, bursts) + drawInteger(random, 0, 1_000) };
    }),
    silences: planSilences(random, durationMs),
  };
}

function planSilences(random: Random, durationMs: number): Silence[] {
  const count = Math.max(3, Math.round(durationMs / silenceIntervalMs));
  return Array.from({ length: count }, (_, index) => {
    const service = (['eventbridge', 'sqs', 'dynamodb'] as const)[index % 3] ?? 'dynamodb';
    const fromMs = Math.round(random() * durationMs * begins.most);
    const ms = drawInteger(random, 500, Math.min(silenceMsMax[service], durationMs / 4));
    return { service, mode: drawItem(random, ['hangs', 'refuses'] as const), fromMs, toMs: fromMs + ms };
  });
}

/** By how many milliseconds the clock of a process is off: of the n-th one in its place. */
export function drawClockOffset(
  seed: number,
  place: { readonly process: number; readonly start: number },
): number {
  const random = createRandom(seed * 7_919 + place.process * 1_009 + place.start);
  return drawInteger(random, -clockOffsetMsMax, clockOffsetMsMax);
}
