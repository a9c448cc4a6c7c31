import type { Clock } from './clock.ts';
import { LeaseLostError, leaseMarginMs } from './task.ts';

/** What is held, as far as holding it needs to know. */
export interface HeldLease {
  /** Monotonic time, milliseconds, until which the holder may rely on it. */
  readonly validUntil: number;
}

/** What holding a lease needs. */
export interface HoldLeaseOptions {
  readonly clock: Clock;
  /** What the lease is on, for the message of its loss: `task 01ABC`. */
  readonly subject: string;
  /** Milliseconds for which a lease holds: it is renewed four times as often. */
  readonly durationMs: number;
  /** Renews it, and moves `validUntil` on. @throws LeaseLostError; anything else may pass, and is tried again. */
  renew(): Promise<void>;
}

/**
 * Renews a lease until disposed, and aborts `signal` with a LeaseLostError when it is lost, or when so little of it is left
 * that a request begun now might outlive it. Time is the monotonic clock's.
 */
export function holdLease(
  lease: HeldLease,
  options: HoldLeaseOptions,
): { signal: AbortSignal } & AsyncDisposable {
  const lost = new AbortController();
  const stopped = new AbortController();
  const ends = AbortSignal.any([lost.signal, stopped.signal]);
  const keeping = Promise.all([
    keepRenewing(options, { lost, ends }),
    watchExpiry(lease, options, { lost, ends }),
  ]);
  return {
    signal: lost.signal,
    async [Symbol.asyncDispose]() {
      stopped.abort();
      await keeping;
    },
  };
}

async function keepRenewing(
  { clock, durationMs, renew }: HoldLeaseOptions,
  { lost, ends }: { lost: AbortController; ends: AbortSignal },
): Promise<void> {
  while (await waits(clock, durationMs / 4, ends)) {
    try {
      await renew();
    } catch (error) {
      // Anything else may pass: the next renewal tries again, and the watch ends the run when none succeeds in time.
      if (error instanceof LeaseLostError) lost.abort(error);
    }
  }
}

async function watchExpiry(
  lease: HeldLease,
  { clock, subject }: HoldLeaseOptions,
  { lost, ends }: { lost: AbortController; ends: AbortSignal },
): Promise<void> {
  const getLeft = (): number => lease.validUntil - leaseMarginMs - clock.monotonic();
  while (getLeft() > 0) {
    if (!(await waits(clock, getLeft(), ends))) return;
  }
  lost.abort(new LeaseLostError(`the lease on ${subject} could not be renewed`));
}

/** False when stopped while waiting. */
async function waits(clock: Clock, ms: number, signal: AbortSignal): Promise<boolean> {
  try {
    await clock.sleep(ms, signal);
    return true;
  } catch {
    return false;
  }
}
