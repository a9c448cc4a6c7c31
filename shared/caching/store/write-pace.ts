import type { Clock } from '#core/clock.ts';
import { Semaphore } from '#core/concurrency.ts';
import { isThrottle } from './cache-store.ts';

/** Milliseconds between two changes of the pace: calls that were under way together are refused together, and count once. */
const stepMs = 250;

/**
 * How many calls the store gets at a time: half as many after a throttle, down to one, and one more after each quarter of a second without
 * any. A refused call gives its place to others while it waits to be repeated.
 */
export class WritePace {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #most: number;
  readonly #calls: Semaphore;
  #steppedAtMs = Number.NEGATIVE_INFINITY;

  /** @param most calls at a time, from 1: the initial number */
  constructor(most: number, clock: Pick<Clock, 'monotonic'>) {
    this.#most = most;
    this.#calls = new Semaphore(most);
    this.#clock = clock;
  }

  /** Calls made at a time. */
  get places(): number {
    return this.#calls.places;
  }

  /** Makes a call when there is a place for it. @throws what the call throws */
  async run<T>(call: () => Promise<T>): Promise<T> {
    const release = await this.#calls.acquire();
    try {
      const answer = await call();
      if (this.places < this.#most) this.#step(this.places + 1);
      return answer;
    } catch (error) {
      if (isThrottle(error)) this.#step(Math.max(1, Math.floor(this.places / 2)));
      throw error;
    } finally {
      release();
    }
  }

  #step(places: number): void {
    const nowMs = this.#clock.monotonic();
    if (nowMs - this.#steppedAtMs < stepMs) return;
    this.#steppedAtMs = nowMs;
    this.#calls.resize(places);
  }
}
