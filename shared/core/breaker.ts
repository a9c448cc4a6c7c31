import type { Clock } from './clock.ts';

/** Thrown instead of a call that would most likely fail, too. */
export class BreakerOpenError extends Error {
  override name = 'BreakerOpenError';
}

/** When a breaker opens, and for how long. */
export interface BreakerOptions {
  readonly clock: Pick<Clock, 'monotonic'>;
  /** The subject of the calls, for the error: `the event bus`. */
  readonly subject: string;
  /** Consecutive failures after which nothing is tried for a while. Default: {@link breakerFailuresMax}. */
  readonly failuresMax?: number;
  /** Milliseconds until one call is tried again. Default: {@link breakerOpenMs}. */
  readonly openMs?: number;
}

/** Consecutive failures that open a breaker. */
export const breakerFailuresMax = 3;

/** Milliseconds for which a breaker stays open before one call is tried. */
export const breakerOpenMs = 10_000;

/**
 * A circuit breaker, so that callers do not wait for an unavailable service: after some consecutive failures calls are refused at once.
 * After a while one of them is tried, and when it succeeds all are made again.
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
    // One caller tries; the others wait for its result.
    this.#openFor();
  }

  /** After too many failures, refuses calls until the time is over. */
  #openFor(): void {
    this.#openUntil = this.#options.clock.monotonic() + this.#options.openMs;
  }
}
