import { uptime } from 'node:os';
import type { Logger } from '#core/logger.ts';
import type { StoreClock } from '#platform/ports/store-clock.ts';
import { systemClock, wallClock } from '#platform/services/system.ts';

/** Milliseconds between two looks. */
const lookMs = 5_000;

/** A machine that stood still for less did not sleep, milliseconds. */
const sleepMs = 2_000;

/** By how much the machine's clock may differ before the log tells, milliseconds. */
const toldFromMs = 60_000;

/** What the machine tells of the time, in milliseconds. */
export interface MachineClocks {
  /** Wall time since the epoch, as it is set now. */
  wall(): number;
  /** Wall time of the process. */
  process(): number;
  /** Since the machine was started, with the time that it slept. */
  uptime(): number;
}

const ownClocks: MachineClocks = {
  wall: () => wallClock.now(),
  process: () => systemClock.now(),
  uptime: () => uptime() * 1_000,
};

/**
 * Looks after the time of the process. It stands still while the machine sleeps, which the time since the machine was started tells: then it
 * is moved on. A machine's clock that was set leaves it as it is, and the log says so.
 */
export class ClockWatch {
  readonly #clock: StoreClock;
  readonly #log: Logger;
  readonly #machine: MachineClocks;
  readonly #beganMs: number;
  #sleptMs = 0;
  #toldMs = 0;

  constructor(clock: StoreClock, log: Logger, machine: MachineClocks = ownClocks) {
    this.#clock = clock;
    this.#log = log;
    this.#machine = machine;
    this.#beganMs = this.#getAheadMs();
  }

  /** Looks once. */
  look(): void {
    const sleptMs = this.#getAheadMs() - this.#beganMs;
    if (sleptMs > this.#sleptMs + sleepMs) {
      this.#sleptMs = sleptMs;
      const nowMs = this.#machine.process();
      this.#clock.take({ toldMs: nowMs + sleptMs, sentMs: nowMs, receivedMs: nowMs });
    }
    const aheadMs = this.#machine.wall() - this.#clock.now();
    if (Math.abs(aheadMs - this.#toldMs) < toldFromMs) return;
    this.#toldMs = aheadMs;
    const seconds = Math.round(aheadMs / 1_000);
    const how = seconds < 0 ? 'behind' : 'ahead of';
    this.#log.warn(
      `the clock of this machine was set: it is ${Math.abs(seconds)} s ${how} the time of this process, which goes on as it did. A restart takes the machine's`,
    );
  }

  /** By how much more time has passed for the machine than for the process. */
  #getAheadMs(): number {
    return this.#machine.uptime() - this.#machine.process();
  }
}

/** Looks now and then, until disposed. */
export function watchClocks(clock: StoreClock, log: Logger): Disposable {
  const watch = new ClockWatch(clock, log);
  const timer = setInterval(() => watch.look(), lookMs).unref();
  return { [Symbol.dispose]: () => clearInterval(timer) };
}
