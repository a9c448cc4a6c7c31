import type { Clock } from '#core/clock.ts';

/** Spreads requests: after a burst of a second's worth, each waits for its turn. */
export class Pace {
  readonly #clock: Pick<Clock, 'monotonic' | 'sleep'>;
  readonly #stepMs: number;
  readonly #burstMs: number;
  /** When the next request's turn would be without a burst. */
  #nextMs = Number.NEGATIVE_INFINITY;

  /** @param perSecond requests a second, and as many at once after a pause. */
  constructor(clock: Pick<Clock, 'monotonic' | 'sleep'>, perSecond: number) {
    this.#clock = clock;
    this.#stepMs = 1000 / perSecond;
    this.#burstMs = 1000;
  }

  /** Waits for a turn. @throws the signal's reason */
  async wait(signal: AbortSignal): Promise<void> {
    const now = this.#clock.monotonic();
    this.#nextMs = Math.max(this.#nextMs, now - this.#burstMs) + this.#stepMs;
    if (this.#nextMs > now) await this.#clock.sleep(this.#nextMs - now, signal);
  }
}
