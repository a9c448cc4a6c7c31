import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import type { Clock, Randomness } from '#core/clock.ts';
import { toBase32 } from '#tasks/task-id.ts';

/** The clocks of this process. Its wall time is its start plus the time since: adjustments of the machine's clock do not change it. */
export const systemClock: Clock = {
  now: () => Math.floor(performance.timeOrigin + performance.now()),
  monotonic: () => performance.now(),
  // Not by node:timers/promises: it makes an error with a stack for each aborted sleep, and nearly all are aborted, as time-outs.
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

/** The same with the current time of the machine's wall clock, as files have it. It jumps when that clock is set. */
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
