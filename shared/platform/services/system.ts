import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import type { Clock, Randomness } from '#core/clock.ts';
import { toBase32 } from '#tasks/task-id.ts';

/** The clocks of this process. Its wall time is that of its start and what has passed since: no step of the machine's clock moves it. */
export const systemClock: Clock = {
  now: () => Math.floor(performance.timeOrigin + performance.now()),
  monotonic: () => performance.now(),
  // Not by node:timers/promises, which makes an error with a stack for each sleep that is given up: nearly all are, for they are time-outs.
  async sleep(ms, signal) {
    signal?.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, ms);
    const giveUp = (): void => reject(signal?.reason);
    signal?.addEventListener('abort', giveUp);
    try {
      await promise;
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', giveUp);
    }
  },
};

/** The same with the time that the machine's wall clock shows now, as files have it. It jumps when somebody sets that clock. */
export const wallClock: Clock = { ...systemClock, now: () => Date.now() };

/** This machine's source of randomness. */
export const systemRandomness: Randomness = {
  fraction: () => Math.random(),
  id: () => toBase32(randomBytes(17)),
};

/** Name of the machine or container: the part of a task's `ownerId` behind the `@`. */
export function getHost(): string {
  return hostname();
}
