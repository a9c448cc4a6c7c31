import { getPauseMs } from '#core/back-off.ts';
import type { Clock, Randomness } from '#core/clock.ts';
import { waitAtMost } from '#core/deadline.ts';
import { getErrorMessage } from '#core/errors.ts';
import type { Logger } from '#core/logger.ts';

/** What is remembered, and how to request it. */
export interface RememberedOptions<T> {
  /** Its name in the log: `applications`. */
  readonly what: string;
  /** Requests it again. */
  load(): Promise<T>;
  readonly clock: Pick<Clock, 'now' | 'sleep'>;
  readonly randomness: Pick<Randomness, 'fraction'>;
  readonly log: Logger;
}

/** A remembered answer. */
interface RememberedAnswer<T> {
  /** Undefined as long as there is no answer. */
  readonly value: T | undefined;
  /** Whether it was answered within the last 5 minutes. */
  readonly isCurrent: boolean;
}

/**
 * Reads the last answer, which is requested again if it is older than `freshMs`; default 30 seconds. If there is an answer, it waits only
 * half a second for a newer one. Never rejects.
 */
type ReadRemembered<T> = (freshMs?: number) => Promise<RememberedAnswer<T>>;

/** Answers of up to this age are good enough. */
const freshAgeMs = 30_000;

/** Answers of up to this age still count as current. */
const currentAgeMs = 5 * 60_000;

/** How long a caller waits for a new answer if there is an old one. After that the new one goes to the next caller. */
const waitMs = 500;

/** Pauses after failures: from `firstMs` to `mostMs`, doubled each time, and randomly up to half longer. */
const backOff = { firstMs: 3_000, mostMs: 90_000, fixedShare: 2 / 3 };

/** A complaint that is still true is logged again after this long. */
const complaintIntervalMs = 5 * 60_000;

/**
 * Remembers the answers to one question. Lambda stops a process between its invocations, so nothing here uses a timer: the first caller
 * after a newer answer is due requests it.
 */
export function createRemembered<T>(options: RememberedOptions<T>): ReadRemembered<T> {
  const { clock, randomness, log, what } = options;
  let known: { readonly value: T; readonly atMs: number } | undefined;
  let asking: Promise<void> | undefined;
  let failures = 0;
  let pauseUntilMs = Number.NEGATIVE_INFINITY;
  let complainedAtMs = Number.NEGATIVE_INFINITY;

  async function ask(): Promise<void> {
    try {
      const value = await options.load();
      known = { value, atMs: clock.now() };
      if (failures > 0) log.info('Front50 answers again', { what, failures });
      failures = 0;
      complainedAtMs = Number.NEGATIVE_INFINITY;
    } catch (error) {
      failures += 1;
      pauseUntilMs = clock.now() + getPauseMs(backOff, failures, randomness);
      complain(error);
    } finally {
      asking = undefined;
    }
  }

  function complain(error: unknown): void {
    if (clock.now() - complainedAtMs < complaintIntervalMs) return;
    complainedAtMs = clock.now();
    log.warn('Front50 does not answer', {
      what,
      reason: getErrorMessage(error),
      // Without a former answer it counts as empty.
      hasFormerAnswers: known !== undefined,
    });
  }

  function isYounger(ageMs: number): boolean {
    return known !== undefined && clock.now() - known.atMs < ageMs;
  }

  async function refresh(): Promise<void> {
    if (asking === undefined && clock.now() >= pauseUntilMs) asking = ask();
    if (asking === undefined) return;
    if (known === undefined) await asking;
    else await waitAtMost(clock, waitMs, asking);
  }

  return async (freshMs = freshAgeMs) => {
    if (!isYounger(freshMs)) await refresh();
    return { value: known?.value, isCurrent: isYounger(currentAgeMs) };
  };
}
