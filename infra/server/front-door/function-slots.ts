import type { Clock } from '#core/clock.ts';
import { systemClock } from '#platform/services/system.ts';
import { FairOrder } from '../functions/fair-order.ts';
import type { HttpError } from '../functions/http-error.ts';
import { createOverloadError } from './http-admission.ts';

/** How often a function runs at once, and who may wait for it. */
export interface FunctionSlotLimits {
  /** Invocations at once, at least 1. */
  readonly concurrency: number;
  /** Requests that may wait for one to end. */
  readonly waitingMax: number;
  /** Milliseconds for which one waits. */
  readonly waitMs: number;
}

/** Milliseconds after which a refused caller is told to try again: after all that were refused earlier. */
const retryMs = { least: 1_000, most: 10_000 } as const;

/** The part that an invocation has in the measure of how long one takes. */
const durationShare = 0.1;

interface Waiter {
  /** Its caller. */
  readonly group: string;
  removed: boolean;
  readonly turn: PromiseWithResolvers<void>;
  timer?: NodeJS.Timeout;
}

/**
 * Bounds the invocations of a function. In AWS each has its own processor. Here all share one with the engines they call, and any
 * invocation beyond its capacity delays all others, until calls to engines time out and are repeated. Later callers wait a moment, in
 * turns, and are then refused, so that they learn at once that there is too much, and when to return: a thousand that all come back after a
 * second are refused again.
 */
export class FunctionSlots {
  readonly #limits: FunctionSlotLimits;
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #order = new FairOrder<Waiter>();
  #free: number;
  #waiting = 0;
  /** What an invocation takes, milliseconds: a moving average. */
  #durationMs = 0;
  /** When who was refused last is expected, by the monotonic clock. */
  #expectedMs = 0;

  constructor(limits: FunctionSlotLimits, clock: Pick<Clock, 'monotonic'> = systemClock) {
    this.#limits = limits;
    this.#clock = clock;
    this.#free = limits.concurrency;
  }

  /**
   * Does work when there is a slot for it.
   *
   * @param caller shares the slots with the other callers
   * @throws HttpError 503 when too many wait, or it waited too long; whatever the work throws
   */
  async run<T>(caller: string, work: () => Promise<T>): Promise<T> {
    const waiter = this.#enter(caller);
    await waiter.turn.promise;
    const begunMs = this.#clock.monotonic();
    try {
      return await work();
    } finally {
      this.#durationMs += durationShare * (this.#clock.monotonic() - begunMs - this.#durationMs);
      this.#free += 1;
      this.#order.settle(waiter);
      this.#serve();
    }
  }

  /** Looks whether a request may wait, before anything is read of it. @throws HttpError 503 when too many wait */
  checkCapacity(): void {
    const { waitingMax } = this.#limits;
    if (this.#free === 0 && this.#waiting >= waitingMax) {
      throw this.#createRefusal(`${waitingMax} requests wait for this function`);
    }
  }

  #enter(group: string): Waiter {
    this.checkCapacity();
    const waiter: Waiter = { group, removed: false, turn: Promise.withResolvers() };
    this.#order.add(waiter);
    this.#waiting += 1;
    if (this.#free > 0) this.#serve();
    else waiter.timer = setTimeout(() => this.#refuse(waiter), this.#limits.waitMs);
    return waiter;
  }

  #refuse(waiter: Waiter): void {
    waiter.removed = true;
    this.#waiting -= 1;
    waiter.turn.reject(this.#createRefusal('other requests come first'));
  }

  /** Expects a refused caller when those that wait, and those refused earlier, have had a slot. */
  #createRefusal(what: string): HttpError {
    const nowMs = this.#clock.monotonic();
    const eachMs = this.#durationMs / this.#limits.concurrency;
    const soonestMs = nowMs + Math.max(retryMs.least, this.#waiting * eachMs);
    this.#expectedMs = Math.min(nowMs + retryMs.most, Math.max(soonestMs, this.#expectedMs + eachMs));
    // Rounded: the difference of two readings of a clock may be a fraction of a microsecond too long, which would count as a second.
    return createOverloadError(what, Math.round(this.#expectedMs - nowMs));
  }

  #serve(): void {
    while (this.#free > 0) {
      const next = this.#order.take();
      if (next === undefined) return;
      clearTimeout(next.timer);
      this.#free -= 1;
      this.#waiting -= 1;
      next.turn.resolve();
    }
  }
}
