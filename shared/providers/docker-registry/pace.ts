import type { Clock } from '#core/clock.ts';

/** How many milliseconds' worth of requests may be sent at once after a pause. */
const burstMs = 1000;

/**
 * Spreads requests: after a burst of a second's worth, each waits for its turn.
 *
 * @returns waits for a turn, and throws the signal's reason.
 */
export function createPace(
  clock: Pick<Clock, 'monotonic' | 'sleep'>,
  perSecond: number,
): (signal: AbortSignal) => Promise<void> {
  /** When the next request's turn would be without a burst. */
  let nextMs = Number.NEGATIVE_INFINITY;
  return async (signal) => {
    const now = clock.monotonic();
    nextMs = Math.max(nextMs, now - burstMs) + 1000 / perSecond;
    if (nextMs > now) await clock.sleep(nextMs - now, signal);
  };
}
