/** Milliseconds by which clocks of processes may differ. They follow the store's time. */
export const clockErrorMsMax = 60_000;

/**
 * Whether a stored time is still to come, such as the end of a lease. One that is further ahead than possible was written by a process with
 * another clock, or before this clock was set: it is due now.
 *
 * @param mostMs how far ahead it can be, milliseconds
 */
export function isAhead(storedMs: number, nowMs: number, mostMs: number): boolean {
  return storedMs > nowMs && storedMs <= nowMs + mostMs + clockErrorMsMax;
}

/** Time, as an argument so that rules stay pure and tests can control it. */
export interface Clock {
  /** Wall time, whole milliseconds since the epoch. */
  now(): number;
  /** Monotonic time in milliseconds from an arbitrary start: for durations and deadlines within a process. */
  monotonic(): number;
  /** Resolves after `ms` milliseconds; rejects with the signal's reason once it is aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** A source of random values, as an argument so that tests can fix it. */
export interface Randomness {
  /** A number from 0 (inclusive) to 1 (exclusive). */
  fraction(): number;
  /** A fresh identifier of 26 characters, Crockford base 32, upper case. */
  id(): string;
}

/** Whole seconds since the epoch, as DynamoDB and JWTs have times. @param ms wall time */
export function toSeconds(ms: number): number {
  return Math.floor(ms / 1000);
}
