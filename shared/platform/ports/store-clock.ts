import type { Clock } from '#core/clock.ts';

/** What an answer says about the time. */
export interface ToldTime {
  /** The service's time, milliseconds since the epoch, truncated to the second, from the header `Date`. */
  readonly toldMs: number;
  /** This machine's wall time when the request was sent, and when its answer came. */
  readonly sentMs: number;
  readonly receivedMs: number;
}

/** A clock that follows the store's time. */
export interface StoreClock extends Clock {
  /** Whether the store's time is known. */
  readonly isSet: boolean;
  /** Sets the time from an answer of the store. */
  take(told: ToldTime): void;
}

/** Milliseconds by which the machine's time may differ from the store's: leases have a larger margin. */
const toleranceMs = 2_000;

/**
 * A clock whose wall time is the store's, known from its answers: leases compare times from several machines, so these must share one time.
 * A machine that agrees with the store keeps its own time, to the millisecond.
 */
export function createStoreClock(machine: Clock): StoreClock {
  let offsetMs = 0;
  let isSet = false;
  return {
    now: () => machine.now() + offsetMs,
    monotonic: () => machine.monotonic(),
    sleep: (ms, signal) => machine.sleep(ms, signal),
    get isSet() {
      return isSet;
    },
    take({ toldMs, sentMs, receivedMs }) {
      isSet = true;
      // The answer was written in between, within the second of its `Date`.
      const least = toldMs - receivedMs;
      const most = toldMs + 1_000 - sentMs;
      if (offsetMs >= least - toleranceMs && offsetMs <= most + toleranceMs) return;
      offsetMs = Math.round((least + most) / 2);
    },
  };
}
