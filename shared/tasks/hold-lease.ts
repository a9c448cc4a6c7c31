import type { Clock } from '#core/clock.ts';
import { waits, within } from '#core/deadline.ts';
import { LeaseLostError, leaseMarginMs } from './task.ts';

/** A lease, as far as holding it needs to know it. */
export interface HeldLease {
  /** Monotonic time, milliseconds, until which the holder may rely on it. */
  readonly validUntil: number;
}

interface HoldLeaseOptions {
  readonly clock: Clock;
  /** The subject of the lease, for the message of its loss: `task 01ABC`. */
  readonly subject: string;
  /** Milliseconds for which a lease holds: it is renewed four times as often. */
  readonly durationMs: number;
  /**
   * Renews it, and moves `validUntil` on. It gets an eighth of the lease's time: a call that hangs leaves room for others.
   *
   * @param signal aborted when its time is over, and when the lease is not needed any more.
   * @throws LeaseLostError; other errors may pass, and are retried.
   */
  renew(signal: AbortSignal): Promise<void>;
}

/** A held lease. */
export interface Hold extends AsyncDisposable {
  /** Aborted with a LeaseLostError when the lease is lost, or so little of it is left that a new request might outlive it. */
  readonly signal: AbortSignal;
  /**
   * Checks the clock. A process that resumes after a suspension may see answers that came meanwhile before any of its timers runs, and so
   * before `signal` is aborted: call this before anything that must not be done without the lease.
   *
   * @throws LeaseLostError as the reason of `signal`
   */
  ensureHeld(): void;
}

/** Renews a lease until disposed. Time is the monotonic clock's. */
export function holdLease(lease: HeldLease, options: HoldLeaseOptions): Hold {
  const lost = new AbortController();
  const stopped = new AbortController();
  const ends = AbortSignal.any([lost.signal, stopped.signal]);
  const keeping = Promise.all([
    keepRenewing(options, { lost, ends }),
    watchExpiry(lease, options, { lost, ends }),
  ]);
  return {
    signal: lost.signal,
    ensureHeld() {
      if (getLeftMs(lease, options.clock) <= 0) lost.abort(toLoss(options.subject));
      lost.signal.throwIfAborted();
    },
    async [Symbol.asyncDispose]() {
      stopped.abort();
      await keeping;
    },
  };
}

async function keepRenewing(
  { clock, durationMs, subject, renew }: HoldLeaseOptions,
  { lost, ends }: { lost: AbortController; ends: AbortSignal },
): Promise<void> {
  const deadline = { ms: durationMs / 8, what: `renewing the lease on ${subject}`, signal: ends };
  let pauseMs = durationMs / 4;
  while (await waits(clock, pauseMs, ends)) {
    try {
      await within(clock, deadline, renew);
      pauseMs = durationMs / 4;
    } catch (error) {
      // Other errors may pass: it is retried soon, and the watch ends the run when no renewal succeeds in time.
      if (error instanceof LeaseLostError) lost.abort(error);
      pauseMs = durationMs / 16;
    }
  }
}

async function watchExpiry(
  lease: HeldLease,
  { clock, subject }: HoldLeaseOptions,
  { lost, ends }: { lost: AbortController; ends: AbortSignal },
): Promise<void> {
  for (let leftMs = getLeftMs(lease, clock); leftMs > 0; leftMs = getLeftMs(lease, clock)) {
    if (!(await waits(clock, leftMs, ends))) return;
  }
  lost.abort(toLoss(subject));
}

/** Milliseconds in which requests may still be begun. */
function getLeftMs({ validUntil }: HeldLease, clock: Clock): number {
  return validUntil - leaseMarginMs - clock.monotonic();
}

function toLoss(subject: string): LeaseLostError {
  return new LeaseLostError(`the lease on ${subject} could not be renewed`);
}
