import type { Clock } from '#core/clock.ts';

/** Milliseconds after which a loop that did not turn is stuck: more than its longest pause and all the calls of a turn together. */
export const stuckAfterMs = 300_000;

/** The answer to a probe. */
export interface Health {
  readonly isGood: boolean;
  /** Why. */
  readonly status: 'UP' | 'STUCK' | 'WAITING' | 'STOPPING';
}

/** How an agent is: whether its loops turn, and whether it has a session. */
export class AgentHealth {
  readonly #clock: Pick<Clock, 'monotonic'>;
  /** When each loop turned last. */
  readonly #turns = new Map<string, number>();
  readonly #sessions: (() => boolean)[] = [];
  #isStopping = false;

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  /** A loop has turned once more. */
  turn(loop: string): void {
    this.#turns.set(loop, this.#clock.monotonic());
  }

  /** Asks this of one more session whenever it is asked itself. */
  watchSession(isOpen: () => boolean): void {
    this.#sessions.push(isOpen);
  }

  /** The agent takes no more work. Its loops stop from here on. */
  stop(): void {
    this.#isStopping = true;
  }

  /** Whether it should be left alone: a loop that is stuck does not come free by itself. */
  get liveness(): Health {
    if (this.#isStopping) return { isGood: true, status: 'STOPPING' };
    const nowMs = this.#clock.monotonic();
    const isStuck = [...this.#turns.values()].some((turnedMs) => nowMs - turnedMs > stuckAfterMs);
    return isStuck ? { isGood: false, status: 'STUCK' } : { isGood: true, status: 'UP' };
  }

  /** Whether it takes work: where it has a session. */
  get readiness(): Health {
    if (this.#isStopping) return { isGood: false, status: 'STOPPING' };
    const isOpen = this.#sessions.some((isSessionOpen) => isSessionOpen());
    return isOpen ? { isGood: true, status: 'UP' } : { isGood: false, status: 'WAITING' };
  }
}
