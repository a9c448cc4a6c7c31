import type { Clock, Randomness } from '#core/clock.ts';
import { systemClock, systemRandomness } from '#platform/services/system.ts';

/** A clock that runs with the machine's, and can be turned forward. Sleeps end early when it is. */
export interface TestClock extends Clock {
  /** Turns the clock forward. */
  advance(ms: number): void;
}

/** A turnable clock. */
export function createTestClock(): TestClock {
  let offset = 0;
  const sleepers = new Set<() => void>();
  return {
    now: () => systemClock.now() + offset,
    monotonic: () => systemClock.monotonic() + offset,
    async sleep(ms, signal) {
      const until = systemClock.monotonic() + offset + ms;
      while (systemClock.monotonic() + offset < until) {
        const turned = new AbortController();
        const wake = (): void => turned.abort();
        sleepers.add(wake);
        const either = AbortSignal.any([turned.signal, ...(signal ? [signal] : [])]);
        await systemClock
          .sleep(Math.max(0, until - systemClock.monotonic() - offset), either)
          .catch(() => undefined);
        sleepers.delete(wake);
        signal?.throwIfAborted();
      }
    },
    advance(ms) {
      offset += ms;
      for (const wake of sleepers) wake();
    },
  };
}

/**
 * A clock that stands still unless it is turned: for tests of what happens before, at or after a time, on whatever machine.
 * Sleeps take as long as they do, and turn nothing.
 */
export function createStandingClock(): TestClock {
  let ms = systemClock.now();
  return {
    now: () => ms,
    monotonic: () => ms,
    sleep: (sleepMs, signal) => systemClock.sleep(sleepMs, signal),
    advance(byMs) {
      ms += byMs;
    },
  };
}

/** A clock whose time passes, and whose sleeps end, only when it is turned: what happens between two turns takes no time. */
export function createTurnedClock(): TestClock {
  let ms = systemClock.now();
  const sleepers = new Map<() => void, number>();
  return {
    now: () => ms,
    monotonic: () => ms,
    async sleep(sleepMs, signal) {
      signal?.throwIfAborted();
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const stop = (): void => reject(signal?.reason);
      sleepers.set(resolve, ms + sleepMs);
      signal?.addEventListener('abort', stop);
      try {
        await promise;
      } finally {
        sleepers.delete(resolve);
        signal?.removeEventListener('abort', stop);
      }
    },
    advance(byMs) {
      ms += byMs;
      for (const [wake, untilMs] of sleepers) if (untilMs <= ms) wake();
    },
  };
}

/** The machine's randomness: ids need not be foreseeable in tests. */
export const testRandomness: Randomness = systemRandomness;
