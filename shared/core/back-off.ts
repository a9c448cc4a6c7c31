import type { Clock, Randomness } from './clock.ts';

/** Pauses between tries: they grow, up to a longest one, and chance spreads callers that failed together. */
export interface BackOff {
  /** Longest pause after the first try, milliseconds. */
  readonly firstMs: number;
  /** Longest pause after any try, milliseconds. Default: no limit. */
  readonly mostMs?: number;
  /** Share of a pause that is not left to chance, from 0 to 1. Default 0, which spreads best. */
  readonly fixedShare?: number;
  /** How many times as long as the one before each pause is. `linear`: the n-th is n times the first. Default 2. */
  readonly growth?: number | 'linear';
}

/** What retrying needs. */
export interface RetryOptions {
  readonly backOff: BackOff;
  /** Tries at most, including the first. */
  readonly triesMax: number;
  readonly clock: Pick<Clock, 'sleep'>;
  readonly randomness: Pick<Randomness, 'fraction'>;
  /** Ends the tries: the last error is thrown, and a pause is cut short. */
  readonly signal?: AbortSignal | undefined;
  /** Whether another try is worth it, after a pause of this many milliseconds. Default: always. */
  isRetryable?(error: unknown, pauseMs: number): boolean;
}

/** Tries until `act`, given the number of the try from 1, succeeds. @throws what the last try threw; the reason of an aborted signal */
export async function retry<T>(options: RetryOptions, act: (tries: number) => Promise<T>): Promise<T> {
  const { backOff, triesMax, clock, randomness, signal, isRetryable } = options;
  for (let tries = 1; ; tries += 1) {
    try {
      return await act(tries);
    } catch (error) {
      const pauseMs = getPauseMs(backOff, tries, randomness);
      const isLast = tries >= triesMax || signal?.aborted;
      if (isLast || isRetryable?.(error, pauseMs) === false) throw error;
      await clock.sleep(pauseMs, signal);
    }
  }
}

/** Milliseconds to wait before the next try. @param tries failed tries, from 1 */
export function getPauseMs(
  backOff: BackOff,
  tries: number,
  randomness: Pick<Randomness, 'fraction'>,
): number {
  return getRandomMs(getLongestPauseMs(backOff, tries), randomness, backOff.fixedShare);
}

/** The same without chance: the longest wait. */
export function getLongestPauseMs(
  { firstMs, mostMs = Number.POSITIVE_INFINITY, growth = 2 }: BackOff,
  tries: number,
): number {
  return Math.min(firstMs * (growth === 'linear' ? tries : growth ** (tries - 1)), mostMs);
}

/** A time of at most `longestMs`, random except for a fixed share, from 0 to 1. */
export function getRandomMs(
  longestMs: number,
  randomness: Pick<Randomness, 'fraction'>,
  fixedShare = 0,
): number {
  const fixedMs = longestMs * fixedShare;
  return fixedMs + (longestMs - fixedMs) * randomness.fraction();
}
