import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { setTimeout as wait } from 'node:timers/promises';
import type { Clock, Randomness } from '../../core/clock.ts';
import { toBase32 } from '../../core/tasks/task-id.ts';

/** This machine's clocks. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  async sleep(ms, signal) {
    signal?.throwIfAborted();
    try {
      await wait(ms, undefined, { ...(signal && { signal }) });
    } catch (error) {
      signal?.throwIfAborted();
      throw error;
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
