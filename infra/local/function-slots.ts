import { FairOrder } from './fair-order.ts';
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

interface Waiter {
  /** Its caller. */
  readonly group: string;
  removed: boolean;
  readonly turn: PromiseWithResolvers<void>;
  timer?: NodeJS.Timeout;
}

/**
 * Bounds the invocations of a function. In AWS each has a processor of its own; here all share one with the engines they call, and
 * whatever is begun beyond what that can do makes all the others late, until calls of engines are over their time and are repeated.
 * Whoever comes later waits a moment, callers by turns, and is then refused, so that he hears at once that there is too much.
 */
export class FunctionSlots {
  readonly #limits: FunctionSlotLimits;
  readonly #order = new FairOrder<Waiter>();
  #free: number;
  #waiting = 0;

  constructor(limits: FunctionSlotLimits) {
    this.#limits = limits;
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
    try {
      return await work();
    } finally {
      this.#free += 1;
      this.#order.settle(waiter);
      this.#serve();
    }
  }

  /** Looks whether a request may wait, before anything is read of it. @throws HttpError 503 when too many wait */
  checkCapacity(): void {
    const { waitingMax } = this.#limits;
    if (this.#free === 0 && this.#waiting >= waitingMax) {
      throw createOverloadError(`${waitingMax} requests wait for this function`);
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
    waiter.turn.reject(createOverloadError('other requests come first'));
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
