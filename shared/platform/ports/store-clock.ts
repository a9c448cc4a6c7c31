import type { Clock } from '#core/clock.ts';

/** What an answer tells of the time. */
export interface ToldTime {
  /** The service's time, milliseconds since the epoch, cut off to the second, as the header `Date` has it. */
  readonly toldMs: number;
  /** This machine's wall time when the request was sent, and when its answer came. */
  readonly sentMs: number;
  readonly receivedMs: number;
}

/** A clock that goes by the store's time. */
export interface StoreClock extends Clock {
  /** Whether the store has told its time. */
  readonly isSet: boolean;
  /** Takes the time from an answer of the store. */
  take(told: ToldTime): void;
}

/** Milliseconds by which the machine's time may differ from the store's: leases have a margin that is larger. */
const toleranceMs = 2_000;

/**
 * A clock whose wall time is the store's, told by its answers: leases are compared by times that several machines write down, so they
 * must mean the same time. A machine that agrees with the store keeps its own time, to the millisecond.
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
      // The answer was written in between, in the second that it tells.
      const least = toldMs - receivedMs;
      const most = toldMs + 1_000 - sentMs;
      if (offsetMs >= least - toleranceMs && offsetMs <= most + toleranceMs) return;
      offsetMs = Math.round((least + most) / 2);
    },
  };
}
