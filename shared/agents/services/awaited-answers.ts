import type { Clock } from '#core/clock.ts';
import { waits } from '#core/deadline.ts';
import { AccountDownError } from '#core/errors.ts';
import type { Services } from '#platform/services/services.ts';
import { type LiveRead, type LiveReadAnswer, type LiveReadStore, liveReadWaitMs } from '../live-read.ts';

/** Milliseconds before each look for an answer; the last one again and again. */
const pausesMs = [15, 25, 40, 60, 90, 120, 150];

/** Waits at a time: each is a request that is under way. One more only looks for itself. */
const waitsMax = 4_096;

interface AnswerWaitOptions {
  readonly reads: Pick<LiveReadStore, 'find'>;
  readonly clock: Pick<Clock, 'monotonic' | 'sleep'>;
  /** Gives the wait up. */
  readonly signal: AbortSignal;
}

/** Notice that a read was answered. The answer is in the table. */
export interface ReadEnd {
  readonly id: string;
  readonly account: string;
  /** Empty where that is not known. */
  readonly agentId: string;
  /** Whether what was asked for was read. */
  readonly isRead: boolean;
  /** Milliseconds since it was asked for. */
  readonly durationMs: number;
}

/** How processes that wait for reads notify each other. */
export interface AnswerPort {
  /** By which others know this process: it goes with each read that waits here. */
  readonly name: string;
  /** Notifies another process. It must not throw: a process without the notice looks by itself. */
  tell(waiter: string, end: ReadEnd): void;
}

/**
 * The callers in this process that wait for answers of live reads. A notice says that there is something to look at, and may be lost or
 * doubled: whoever waits looks by itself as well.
 */
export class AwaitedAnswers {
  readonly #waits = new Map<string, Wake>();
  /** How others are notified; undefined where processes do not notify each other. */
  port: AnswerPort | undefined;

  /**
   * Waits until a read is answered, {@link liveReadWaitMs} at most: looks when it is notified, and from time to time.
   *
   * @throws AccountDownError when no answer came in time; the signal's reason; what the store throws
   */
  async wait({ id, account }: LiveRead, options: AnswerWaitOptions): Promise<LiveReadAnswer> {
    const { reads, clock, signal } = options;
    const wake = new Wake();
    if (this.#waits.size < waitsMax) this.#waits.set(id, wake);
    try {
      const endMs = clock.monotonic() + liveReadWaitMs;
      for (let look = 0; clock.monotonic() < endMs; look += 1) {
        const pauseMs = pausesMs[Math.min(look, pausesMs.length - 1)] ?? 0;
        await wake.pause(clock, pauseMs, signal);
        signal.throwIfAborted();
        const state = await reads.find(id);
        if (state?.answer !== undefined) return state.answer;
      }
    } finally {
      this.#waits.delete(id);
    }
    throw new AccountDownError(`Account ${account}: no agent answered in time (${liveReadWaitMs / 1000} s)`);
  }

  /** Tells who waits here for the answer of that read to look. @returns whether anybody does */
  settle(id: string): boolean {
    const wake = this.#waits.get(id);
    wake?.tell();
    return wake !== undefined;
  }

  /** Tells who waits for the answer, here or elsewhere. @param waiter the process that waits, where that is known */
  tell(waiter: string | undefined, end: ReadEnd): void {
    if (this.settle(end.id) || waiter === undefined || waiter === this.port?.name) return;
    this.port?.tell(waiter, end);
  }
}

/** Pauses that are cut short. */
class Wake {
  #told = new AbortController();

  /** Ends the present pause, or the next one if there is none. */
  tell(): void {
    this.#told.abort('the answer is there');
  }

  /** Waits for a notice, so many milliseconds at most. */
  async pause(clock: Pick<Clock, 'sleep'>, ms: number, signal: AbortSignal): Promise<void> {
    const told = this.#told.signal;
    await waits(clock, ms, AbortSignal.any([signal, told]));
    if (told.aborted) this.#told = new AbortController();
  }
}

/** The callers in this process that wait for answers, of this installation. */
export function openAwaitedAnswers(services: Services): AwaitedAnswers {
  return services.get(createAwaitedAnswers);
}

function createAwaitedAnswers(): AwaitedAnswers {
  return new AwaitedAnswers();
}
