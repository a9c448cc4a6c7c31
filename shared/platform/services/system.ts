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

/**
 * Aborted by the first SIGTERM or SIGINT, or by the end of a parent that holds an IPC channel; a second one ends the process at once.
 *
 * @param reason says why what is under way ends
 */
export function watchStopSignals(reason = 'stopped'): AbortSignal {
  const stopping = new AbortController();
  const stop = (): void => {
    if (stopping.signal.aborted) process.exit(1);
    stopping.abort(new Error(reason));
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, stop);
  if (process.channel !== undefined) process.once('disconnect', stop);
  return stopping.signal;
}

/** Name of the machine or container: the part of a task's `ownerId` behind the `@`. */
export function getHost(): string {
  return hostname();
}
