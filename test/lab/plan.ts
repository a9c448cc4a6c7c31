import { createRandom, drawInteger, drawItem, type Random } from '#test/support/run/seeded-random.ts';
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

/** The clock of a running process is set, and set back after a while. */
export interface ClockStep extends Trouble {
  readonly byMs: number;
  readonly ms: number;
}

/** The credentials of the accounts end, and the next ones come after a while. */
export interface Lapse {
  readonly atMs: number;
  readonly ms: number;
}

/** What happens in a run and when, in milliseconds since it began. */
export interface LabPlan {
  /** When each chain of operations begins. */
  readonly beginnings: readonly number[];
  readonly kills: readonly Kill[];
  readonly freezes: readonly Freeze[];
  readonly silences: readonly Silence[];
  readonly clockSteps: readonly ClockStep[];
  readonly lapses: readonly Lapse[];
  /** When another account comes to be cached. */
  readonly fills: readonly number[];
  /** For how many milliseconds each chain waits, if its operations wait for something. */
  readonly holds: readonly number[];
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

/** By how much a clock is set, milliseconds, and for how long: clocks are never so far off by themselves. */
const clockStepMs = 3_600_000;
const steppedMs = { least: 3_000, most: 20_000 };

/** How long credentials lapse, milliseconds, and how long they hold at least. */
const lapseMs = { least: 12_000, most: 18_000 };
const lapseIntervalMs = 120_000;

/** Milliseconds between two first fills. */
const fillIntervalMs = 600_000;

/** Milliseconds for which operations wait: all longer than a worker waits itself, some for several looks. */
const holdMs = { least: 4_000, most: 25_000 };

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
      // Every fourth stands still for longer than a lease holds, which the end of the run must not cut off, nor wait for.
      if (index % 4 === 0 && durationMs > longFreezeMs.most) {
        const ms = drawInteger(random, longFreezeMs.least, longFreezeMs.most);
        return { ...place, ms, atMs: Math.min(drawTime(), Math.round(durationMs * 0.4)) };
      }
      const ms = drawInteger(random, freezeMs.least, freezeMs.most);
      return { ...place, ms, atMs: drawItem(random, bursts) + drawInteger(random, 0, 1_000) };
    }),
    silences: planSilences(random, durationMs),
    clockSteps: Array.from({ length: Math.max(processCount, Math.ceil(kills / 2)) }, (_, index) => ({
      process: index % processCount,
      byMs: index % 2 === 0 ? clockStepMs : -clockStepMs,
      ms: drawInteger(random, steppedMs.least, steppedMs.most),
      atMs: drawItem(random, bursts) + drawInteger(random, 0, 1_000),
    })),
    lapses: planLapses(random, bursts),
    fills: Array.from(
      { length: Math.ceil(durationMs / fillIntervalMs) },
      (_, index) => index * fillIntervalMs,
    ),
    holds: beginnings.map(() => drawInteger(random, holdMs.least, holdMs.most)),
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

/** In the midst of what just began. */
function planLapses(random: Random, bursts: readonly number[]): Lapse[] {
  const lapses: Lapse[] = [];
  for (const beginsAtMs of bursts.toSorted((one, other) => one - other)) {
    const atMs = beginsAtMs + drawInteger(random, 200, 2_000);
    if (atMs < (lapses.at(-1)?.atMs ?? Number.NEGATIVE_INFINITY) + lapseIntervalMs) continue;
    lapses.push({ atMs, ms: drawInteger(random, lapseMs.least, lapseMs.most) });
  }
  return lapses;
}

/** By how many milliseconds the clock of a process is off: of the n-th one in its place. */
export function drawClockOffset(
  seed: number,
  place: { readonly process: number; readonly start: number },
): number {
  const random = createRandom(seed * 7_919 + place.process * 1_009 + place.start);
  return drawInteger(random, -clockOffsetMsMax, clockOffsetMsMax);
}
