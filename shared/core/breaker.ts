import type { Clock } from './clock.ts';

/** Thrown instead of a call that would most likely fail, too. */
export class BreakerOpenError extends Error {
  override name = 'BreakerOpenError';
}

/** When a breaker opens, and for how long. */
export interface BreakerOptions {
  readonly clock: Pick<Clock, 'monotonic'>;
  /** What is called, for the error: `the event bus`. */
  readonly subject: string;
  /** Failures in a row after which nothing is tried for a while. Default: {@link breakerFailuresMax}. */
  readonly failuresMax?: number;
  /** Milliseconds until one call is tried again. Default: {@link breakerOpenMs}. */
  readonly openMs?: number;
}

/** Calls that fail in a row until a breaker opens. */
export const breakerFailuresMax = 3;

/** Milliseconds for which a breaker stays open before one call is tried. */
export const breakerOpenMs = 10_000;

/**
 * Keeps callers from waiting for a service that is away: after some failures in a row calls are refused at once; after a while one of
 * them is tried, and when it succeeds all are made again.
 */
export class Breaker {
  readonly #options: Required<BreakerOptions>;
  #failures = 0;
  #openUntil = 0;

  constructor(options: BreakerOptions) {
    this.#options = { failuresMax: breakerFailuresMax, openMs: breakerOpenMs, ...options };
  }

  /** Makes a call. @throws BreakerOpenError without making it, and what the call throws. */
  async run<T>(call: () => Promise<T>): Promise<T> {
    this.#enter();
    try {
      const answer = await call();
      this.#failures = 0;
      return answer;
    } catch (error) {
      this.#failures += 1;
      this.#openFor();
      throw error;
    }
  }

  #enter(): void {
    const { clock, subject, failuresMax } = this.#options;
    if (this.#failures < failuresMax) return;
    if (clock.monotonic() < this.#openUntil) {
      throw new BreakerOpenError(
        `${subject} has failed ${this.#failures} times in a row: it is left alone for a while`,
      );
    }
    // One caller tries; the others wait for what comes of it.
    this.#openFor();
  }

  /** From now on, where there were too many failures, calls are refused until the time is over. */
  #openFor(): void {
    this.#openUntil = this.#options.clock.monotonic() + this.#options.openMs;
  }
}
