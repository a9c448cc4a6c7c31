import { setTimeout as sleep } from 'node:timers/promises';
import { createOverloadError } from './http-admission.ts';
import type { FrontDoorLimits } from './http-limits.ts';

/** Lets large requests have their turns one after the other, with pauses in which others are served. */
export class Turns {
  readonly #limits: Pick<FrontDoorLimits, 'largeBodyPauseMs' | 'largeBodyWaitMs'>;
  /** Resolves when the last one that waits has had its turn. */
  #last: Promise<void> = Promise.resolve();

  constructor(limits: Pick<FrontDoorLimits, 'largeBodyPauseMs' | 'largeBodyWaitMs'>) {
    this.#limits = limits;
  }

  /**
   * Does work when its turn comes. The next turn begins a while after it is done.
   *
   * @throws HttpError 503 when the turn does not come in time
   */
  async take<T>(work: () => Promise<T>): Promise<T> {
    const turn = Promise.withResolvers<void>();
    const before = this.#last;
    this.#last = turn.promise;
    const startMs = performance.now();
    await before;
    if (performance.now() - startMs > this.#limits.largeBodyWaitMs) {
      turn.resolve();
      throw createOverloadError('other large requests come first');
    }
    try {
      return await work();
    } finally {
      void this.#pause().then(turn.resolve);
    }
  }

  #pause(): Promise<void> {
    return sleep(this.#limits.largeBodyPauseMs, undefined, { ref: false });
  }
}
