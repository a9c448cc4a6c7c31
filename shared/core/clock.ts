/** By so much clocks of processes may differ, milliseconds. They go by the store's time. */
export const clockErrorMsMax = 60_000;

/**
 * Whether a stored time is still to come, such as the end of a lease. One that lies further ahead than it can was written by a process whose
 * clock was another, or before this one was set: it is due now.
 *
 * @param mostMs how far ahead it can lie, milliseconds
 */
export function isAhead(storedMs: number, nowMs: number, mostMs: number): boolean {
  return storedMs > nowMs && storedMs <= nowMs + mostMs + clockErrorMsMax;
}

/** Time, taken as an argument so that rules stay pure and tests can turn it. */
export interface Clock {
  /** Wall time, whole milliseconds since the epoch. */
  now(): number;
  /** Monotonic time in milliseconds from an arbitrary start: for durations and deadlines within a process. */
  monotonic(): number;
  /** Resolves after `ms` milliseconds; rejects with the signal's reason once it is aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** A source of random values, taken as an argument so that tests can fix it. */
export interface Randomness {
  /** A number from 0 (inclusive) to 1 (exclusive). */
  fraction(): number;
  /** A fresh identifier of 26 characters, Crockford base 32, upper case. */
  id(): string;
}
