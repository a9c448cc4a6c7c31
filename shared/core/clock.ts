/** Time, taken as an argument so that rules stay pure and tests can turn it. */
export interface Clock {
  /** Wall time, milliseconds since the epoch. */
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
