import { expect, test } from 'vitest';
import { createStoreClock, type StoreClock } from '#platform/ports/store-clock.ts';
import { createStandingClock } from '#test/support/run/test-clock.ts';

/** The store's clock, and that of a machine which is `offMs` ahead of it, going by the store's. */
function open(offMs: number) {
  const store = createStandingClock();
  const machine = { ...store, now: () => store.now() + offMs };
  const clock = createStoreClock(machine);
  /** An answer that takes so long, both ways. */
  const answer = (ms: number): void => {
    const sentMs = machine.now();
    store.advance(ms / 2);
    const toldMs = Math.floor(store.now() / 1000) * 1000;
    store.advance(ms / 2);
    clock.take({ toldMs, sentMs, receivedMs: machine.now() });
  };
  return { store, clock, machine, answer };
}

const getError = (one: StoreClock, other: { now(): number }): number => Math.abs(one.now() - other.now());

test.each([60_000, -60_000, 3_600_000, 4_000])('a clock that is %i ms off goes by the store', (offMs) => {
  const { store, clock, answer } = open(offMs);
  expect(clock.isSet).toBe(false);
  answer(20);
  expect(clock.isSet).toBe(true);
  expect(getError(clock, store)).toBeLessThanOrEqual(1_000);
});

test.each([0, 900, -900])('a clock that is %i ms off stays as it is, however slow answers are', (offMs) => {
  const { clock, machine, answer } = open(offMs);
  for (const ms of [2, 200, 4_000, 60_000]) answer(ms);
  expect(clock.now()).toBe(machine.now());
});

test('a clock that was right is not set by an answer that took a minute', () => {
  const { store, clock, answer } = open(60_000);
  answer(20);
  answer(60_000);
  expect(getError(clock, store)).toBeLessThanOrEqual(1_000);
});

test('a machine whose clock is set meanwhile is noticed with the next answer', () => {
  const store = createStandingClock();
  let offMs = 60_000;
  const clock = createStoreClock({ ...store, now: () => store.now() + offMs });
  const answer = (): void => {
    const ms = store.now() + offMs;
    clock.take({ toldMs: Math.floor(store.now() / 1000) * 1000, sentMs: ms, receivedMs: ms });
  };
  answer();
  offMs = 0;
  answer();
  expect(getError(clock, store)).toBeLessThanOrEqual(2_000);
});
