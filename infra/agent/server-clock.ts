import type { Clock } from '#core/clock.ts';

/** By how much a later estimate must be less to be believed: the clock was set, and it is no slow answer. */
const setBackMs = 2_000;

/**
 * The clock of Busdriver, as far as its answers show. What is cached is dated by its time, so that no clock of a cluster makes a view
 * look fresher than it is: each answer was made before it came, so the estimate is never ahead.
 */
export class ServerClock implements Clock {
  readonly #base: Clock;
  #offsetMs: number | undefined;

  constructor(base: Clock) {
    this.#base = base;
  }

  /** Takes what the time was when an answer was made that has just come, milliseconds since the epoch. */
  follow(serverMs: number): void {
    const offsetMs = serverMs - this.#base.now();
    const known = this.#offsetMs;
    // Of two estimates the greater one is of the faster answer.
    if (known === undefined || offsetMs > known || offsetMs < known - setBackMs) this.#offsetMs = offsetMs;
  }

  now(): number {
    return this.#base.now() + (this.#offsetMs ?? 0);
  }

  monotonic(): number {
    return this.#base.monotonic();
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return this.#base.sleep(ms, signal);
  }
}
