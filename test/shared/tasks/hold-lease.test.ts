import { expect, test } from 'vitest';
import { type HeldLease, holdLease } from '#tasks/hold-lease.ts';
import { LeaseLostError, leaseDurationMs, leaseMarginMs } from '#tasks/task.ts';
import { createVirtualClock } from '#test/support/run/virtual-clock.ts';

const clock = createVirtualClock();

/** A lease taken now, which lasts as long as the store's answers to its renewals allow. */
function hold(renew: (lease: { validUntil: number }, signal: AbortSignal) => Promise<void>) {
  const lease: { validUntil: number } & HeldLease = { validUntil: clock.monotonic() + leaseDurationMs };
  return holdLease(lease, {
    clock,
    subject: 'task 01A',
    durationMs: leaseDurationMs,
    renew: (signal) => renew(lease, signal),
  });
}

test('a lease that cannot be renewed ends before anybody else may take it, and not sooner', async () => {
  await using held = hold(() => Promise.reject(new Error('the store is away')));
  await clock.pass(leaseDurationMs - leaseMarginMs - 1);
  expect(held.signal.aborted).toBe(false);
  await clock.pass(1);
  expect(held.signal.reason).toBeInstanceOf(LeaseLostError);
});

test('a renewal that hangs is given up in time for others', async () => {
  const tries: AbortSignal[] = [];
  await using held = hold(async (lease, signal) => {
    tries.push(signal);
    if (tries.length <= 2) await new Promise(() => undefined);
    lease.validUntil = clock.monotonic() + leaseDurationMs;
  });
  await clock.pass(leaseDurationMs);
  expect(held.signal.aborted).toBe(false);
  expect(tries.slice(0, 2).map(({ aborted }) => aborted)).toEqual([true, true]);
});

test('a lease that another has taken ends at once', async () => {
  await using held = hold(() => Promise.reject(new LeaseLostError('another has it')));
  await clock.pass(leaseDurationMs / 4);
  expect(held.signal.reason).toBeInstanceOf(LeaseLostError);
});

test('nobody waits for a renewal that is under way once the lease is not needed any more', async () => {
  let signal: AbortSignal | undefined;
  const held = hold((_lease, given) => {
    signal = given;
    return new Promise((_, reject) => given.addEventListener('abort', () => reject(given.reason)));
  });
  await clock.pass(leaseDurationMs / 4);
  await held[Symbol.asyncDispose]();
  expect(signal?.aborted).toBe(true);
});
