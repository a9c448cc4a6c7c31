import type { Clock } from '#core/clock.ts';
import { asJsonObject, type JsonValue } from '#core/json.ts';

/** What an operation waits for; see `OperationRun.waitUntil`. */
export interface Wait {
  /** What it waits for, as the history says it after `Waiting for`: `configMap web to be gone`. */
  describe(): string;
  /**
   * Wall time of `clock`, milliseconds, after which the wait is late. Count it from a decided value. Where that cannot be, later runs use
   * the deadline of the run that put the task down.
   */
  readonly deadlineMs: number;
  readonly clock: Clock;
  /** Milliseconds that the worker itself waits before the task is put down. Default: {@link inPlaceMs} */
  readonly inPlaceMs?: number;
  /** Tag of the line in the history. Default: that of the operation. */
  readonly phase?: string;
}

/** One look at the state that is waited for. */
export interface Look {
  /** Whether it is the first: later ones need not repeat its requests. After a worker's death there may be two. */
  readonly isFirst: boolean;
  /** Whether the deadline is over: this is the last look. */
  readonly isLate: boolean;
}

/** What the journal keeps of a wait for which a task was put down. */
export type StoredWait = {
  /** When it was first put down, and the deadline: wall times, milliseconds. */
  readonly sinceMs: number;
  readonly deadlineMs: number;
};

/** Prefix of the keys of waits, after that of their operation. */
export const waitPrefix = 'wait/';

/** The wait of a journal entry; undefined for an entry of anything else. @param key with its run: `0/op/1/wait/cluster` */
export function getStoredWait(key: string, value: JsonValue | undefined): StoredWait | undefined {
  if (!isWaitKey(key)) return undefined;
  const { sinceMs, deadlineMs } = asJsonObject(value) ?? {};
  return isTime(sinceMs) && isTime(deadlineMs) ? { sinceMs, deadlineMs } : undefined;
}

/** Whether a journal entry is that of a wait. @param key with its run */
export function isWaitKey(key: string): boolean {
  return /^\d+\/op\/\d+\/wait\//.test(key);
}

/** Entries of agents come from outside: a time beyond what a Date holds is none. */
function isTime(value: JsonValue | undefined): value is number {
  return typeof value === 'number' && Number.isFinite(new Date(value).getTime());
}

/** Milliseconds that a worker waits itself: a short wait costs no write. */
export const inPlaceMs = 2_000;

/** Seconds between two looks of a task that is put down: as long as it has waited so far, up to the last. */
const lookSeconds = [1, 2, 4, 8, 15];

/** Milliseconds by which workers' clocks may differ: a task may be taken so much before its message, as an early one does nothing. */
const earlyMs = 2_000;

/** Ends a run whose task is put down: it waits, and no worker holds it meanwhile. */
export class PutDownError extends Error {
  override name = 'PutDownError';
  /** Seconds after which a worker is to look again. */
  readonly lookSeconds: number;

  constructor(seconds: number) {
    super(`the task waits, and is looked at again in ${seconds} s`);
    this.lookSeconds = seconds;
  }
}

/** Seconds until the next look: 1, 2, 4, 8, then each 15, and at the deadline. */
export function planLook({ sinceMs, deadlineMs }: StoredWait, nowMs: number): number {
  const waitedSeconds = (nowMs - sinceMs) / 1_000;
  const next = lookSeconds.findLast((seconds) => seconds <= waitedSeconds + 1) ?? 1;
  return Math.max(1, Math.min(next, Math.ceil((deadlineMs - nowMs) / 1_000)));
}

/** Milliseconds for which no worker can take a task that is to be looked at in this many seconds. */
export function getRestMs(seconds: number): number {
  return Math.max(0, seconds * 1_000 - earlyMs);
}
