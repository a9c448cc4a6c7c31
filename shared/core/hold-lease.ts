import type { Clock } from './clock.ts';
import { type Lease, LeaseLostError, leaseDurationMs, leaseMarginMs, type TaskStore } from './task.ts';

/** How often a held lease is renewed, milliseconds. */
const renewalIntervalMs = leaseDurationMs / 4;

/** What holding a lease needs. */
export interface HoldLeaseOptions {
  readonly store: Pick<TaskStore, 'renewLease'>;
  readonly clock: Clock;
  /** Called after each renewal, for what must be kept alive beside it. */
  onRenewed?(): Promise<void>;
}

/**
 * Renews a lease until disposed, and aborts `signal` with a LeaseLostError when it is lost, or when so little of it is left
 * that a request begun now might outlive it. Time is the monotonic clock's.
 */
export function holdLease(
  lease: Lease,
  options: HoldLeaseOptions,
): { signal: AbortSignal } & AsyncDisposable {
  const lost = new AbortController();
  const stopped = new AbortController();
  const ends = AbortSignal.any([lost.signal, stopped.signal]);
  const keeping = Promise.all([
    keepRenewing(lease, options, { lost, ends }),
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
  lease: Lease,
  { store, clock, onRenewed }: HoldLeaseOptions,
  { lost, ends }: { lost: AbortController; ends: AbortSignal },
): Promise<void> {
  while (await waits(clock, renewalIntervalMs, ends)) {
    try {
      await store.renewLease(lease);
      await onRenewed?.();
    } catch (error) {
      // Anything else may pass: the next renewal tries again, and the watch ends the run when none succeeds in time.
      if (error instanceof LeaseLostError) lost.abort(error);
    }
  }
}

async function watchExpiry(
  lease: Lease,
  { clock }: HoldLeaseOptions,
  { lost, ends }: { lost: AbortController; ends: AbortSignal },
): Promise<void> {
  const getLeft = (): number => lease.validUntil - leaseMarginMs - clock.monotonic();
  while (getLeft() > 0) {
    if (!(await waits(clock, getLeft(), ends))) return;
  }
  lost.abort(new LeaseLostError(`the lease on task ${lease.taskId} could not be renewed`));
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
