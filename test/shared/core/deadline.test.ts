import { expect, test } from 'vitest';
import { onceAborted, TimeoutError, untilAborted, waitAtMost, within } from '#core/deadline.ts';
import { systemClock } from '#platform/services/system.ts';

const { signal } = new AbortController();
const aborted = AbortSignal.abort(new Error('given up'));

test('what is shared comes through, also what is there already', async () => {
  expect(await untilAborted(Promise.resolve(1), signal)).toBe(1);
  expect(await untilAborted(Promise.resolve(1), undefined)).toBe(1);
  expect(await untilAborted(2, aborted)).toBe(2);
  await expect(untilAborted(Promise.reject(new Error('broken')), signal)).rejects.toThrow('broken');
});

test('who has given up does not wait, and a later failure of what is shared harms nobody', async () => {
  const { promise, reject } = Promise.withResolvers<never>();
  await expect(untilAborted(promise, aborted)).rejects.toThrow('given up');
  reject(new Error('broken'));
  await new Promise(setImmediate);
});

/** Ends each sleep when the test says so, and none that was aborted. */
function createHeldClock() {
  const sleepers: (() => void)[] = [];
  const clock = {
    sleep: (_ms: number, ended?: AbortSignal) =>
      new Promise<void>((resolve, reject) => {
        sleepers.push(resolve);
        ended?.addEventListener('abort', () => reject(ended.reason), { once: true });
      }),
  };
  return { clock, endSleeps: () => sleepers.splice(0).forEach((end) => void end()) };
}

test('who has given up waits on for the time of grace, and no longer', async () => {
  const { clock, endSleeps } = createHeldClock();
  const grace = { clock, ms: 1_000 };
  expect(await untilAborted(Promise.resolve(1), aborted, grace)).toBe(1);
  const never = untilAborted(new Promise(() => {}), aborted, grace);
  endSleeps();
  await expect(never).rejects.toThrow('given up');
});

test('waits for work, or for its time to be over', async () => {
  const { clock, endSleeps } = createHeldClock();
  expect(await waitAtMost(clock, 1_000, Promise.resolve())).toBe(true);
  await expect(waitAtMost(clock, 1_000, Promise.reject(new Error('broken')))).rejects.toThrow('broken');
  const late = Promise.withResolvers<void>();
  const waiting = waitAtMost(clock, 1_000, late.promise);
  endSleeps();
  expect(await waiting).toBe(false);
  late.reject(new Error('nobody hears of it'));
  await new Promise(setImmediate);
});

test('what takes too long is aborted, with an error of the caller if there is one', async () => {
  let seen: AbortSignal | undefined;
  const work = (given: AbortSignal) => {
    seen = given;
    return new Promise<never>(() => {});
  };
  await expect(within(systemClock, { ms: 1, what: 'waiting' }, work)).rejects.toThrow(
    new TimeoutError('waiting took longer than 1 ms'),
  );
  expect(seen?.aborted).toBe(true);
  const toError = () => new RangeError('too late');
  await expect(within(systemClock, { ms: 1, toError }, work)).rejects.toThrow(RangeError);
});

test('an abort can be waited for, also one that was', async () => {
  const aborter = new AbortController();
  const waiting = onceAborted(aborter.signal);
  aborter.abort();
  await waiting;
  await onceAborted(aborted);
});
