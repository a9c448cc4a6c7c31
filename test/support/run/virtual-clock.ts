import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '#core/clock.ts';

/** A clock that stands still until it is turned: hours pass in a moment, and whoever sleeps wakes in the right order. */
export interface VirtualClock extends Clock {
  /**
   * Lets time pass. It stands still while anything tracked is under way.
   *
   * @param until ends it early.
   */
  pass(ms: number, until?: () => boolean): Promise<void>;
  /** The same object, whose calls take no time: the clock waits for their answers. */
  track<T extends object>(target: T): T;
}

interface Sleeper {
  readonly atMs: number;
  wake(): void;
}

/** Turns of the event loop after which whatever was woken has called what it calls. */
const turns = 5;

/** Makes a clock that begins at a time. */
export function createVirtualClock(startMs = 1_800_000_000_000): VirtualClock {
  let nowMs = startMs;
  const sleepers = new Set<Sleeper>();
  const calls = new Set<Promise<unknown>>();
  const settle = async (): Promise<void> => {
    do {
      await Promise.allSettled(calls);
      for (let turn = 0; turn < turns; turn += 1) await nextTurn();
    } while (calls.size > 0);
  };
  return {
    now: () => nowMs,
    monotonic: () => nowMs,
    sleep(ms, signal) {
      return new Promise((resolve, reject) => {
        signal?.throwIfAborted();
        const sleeper = { atMs: nowMs + Math.max(0, ms), wake: resolve };
        sleepers.add(sleeper);
        const leave = (): void => {
          if (sleepers.delete(sleeper)) reject(signal?.reason);
        };
        signal?.addEventListener('abort', leave, { once: true });
      });
    },
    async pass(ms, until = () => false) {
      const endMs = nowMs + ms;
      for (;;) {
        await settle();
        const next = [...sleepers].sort((one, other) => one.atMs - other.atMs)[0];
        if (until()) return;
        if (next === undefined || next.atMs > endMs) break;
        nowMs = Math.max(nowMs, next.atMs);
        sleepers.delete(next);
        next.wake();
      }
      nowMs = endMs;
    },
    track<T extends object>(target: T): T {
      return new Proxy(target, {
        get(object, name) {
          const value: unknown = Reflect.get(object, name);
          if (typeof value !== 'function') return value;
          return (...args: unknown[]) => {
            const answer: unknown = Reflect.apply(value, object, args);
            if (!(answer instanceof Promise)) return answer;
            calls.add(answer);
            const forget = (): void => void calls.delete(answer);
            answer.then(forget, forget);
            return answer;
          };
        },
      });
    },
  };
}
