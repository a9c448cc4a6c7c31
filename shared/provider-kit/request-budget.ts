import type { Clock } from '#core/clock.ts';

/** How many requests an account, or one of its regions, may send. */
export interface BudgetLimits {
  /** Requests a second in the long run. */
  readonly qps: number;
  /** Requests that may be sent at once after a pause; at least 1. */
  readonly burst: number;
}

/**
 * The requests of an account, or of one of its regions, since platforms limit each by itself: a token bucket that waits rather than fails.
 * Each request takes its place at once, so waiting is first come, first served; a request that is aborted gives its place back.
 */
export class RequestBudget {
  readonly #limits: BudgetLimits;
  readonly #clock: Pick<Clock, 'monotonic' | 'sleep'>;
  #tokens: number;
  #filledAtMs: number;

  constructor(limits: BudgetLimits, clock: Pick<Clock, 'monotonic' | 'sleep'>) {
    this.#limits = limits;
    this.#clock = clock;
    this.#tokens = limits.burst;
    this.#filledAtMs = clock.monotonic();
  }

  /**
   * Takes one token. Returns undefined if there is one, so that usual requests need not wait; otherwise a promise that resolves when its
   * turn comes and rejects with the signal's reason.
   */
  take(signal?: AbortSignal): Promise<void> | undefined {
    const now = this.#clock.monotonic();
    const filled = this.#tokens + ((now - this.#filledAtMs) * this.#limits.qps) / 1000;
    this.#tokens = Math.min(filled, this.#limits.burst) - 1;
    this.#filledAtMs = now;
    if (this.#tokens >= 0) return undefined;
    return this.#wait((-this.#tokens * 1000) / this.#limits.qps, signal);
  }

  async #wait(ms: number, signal?: AbortSignal): Promise<void> {
    try {
      await this.#clock.sleep(ms, signal);
    } catch (error) {
      this.#tokens += 1;
      throw error;
    }
  }
}
