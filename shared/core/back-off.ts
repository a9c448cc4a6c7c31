import type { Randomness } from './clock.ts';

/** Pauses between tries: they double, up to a longest one, and chance spreads those who failed together. */
export interface BackOff {
  /** Longest pause after the first try, milliseconds. */
  readonly firstMs: number;
  /** Longest pause after any try, milliseconds. Default: none. */
  readonly mostMs?: number;
  /** Share of a pause that is not left to chance, from 0 to 1. Default 0, which spreads best. */
  readonly fixedShare?: number;
}

/** Milliseconds to wait before the next try. @param tries that failed, from 1 */
export function getPauseMs(
  { firstMs, mostMs = Number.POSITIVE_INFINITY, fixedShare = 0 }: BackOff,
  tries: number,
  randomness: Pick<Randomness, 'fraction'>,
): number {
  const longestMs = Math.min(firstMs * 2 ** (tries - 1), mostMs);
  return longestMs * (fixedShare + (1 - fixedShare) * randomness.fraction());
}
