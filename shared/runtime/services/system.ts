import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import type { Clock, Randomness } from '../../core/clock.ts';
import { toBase32 } from '../../core/tasks/task-id.ts';

/** This machine's clocks. */
export const systemClock: Clock = {
  now: () => Date.now(),
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

/** This machine's source of randomness. */
export const systemRandomness: Randomness = {
  fraction: () => Math.random(),
  id: () => toBase32(randomBytes(17)),
};

/** Name of the machine or container: the part of a task's `ownerId` behind the `@`. */
export function getHost(): string {
  return hostname();
}
