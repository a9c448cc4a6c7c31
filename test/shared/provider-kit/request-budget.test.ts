import fc from 'fast-check';
import { expect, test } from 'vitest';
import { RequestBudget } from '#provider-kit/request-budget.ts';
import { TurnedClock } from '#test/shared/providers/kubernetes/client/client-setup.ts';

test('a burst waits for nothing; what follows waits its turn', async () => {
  const clock = new TurnedClock();
  const budget = new RequestBudget({ qps: 50, burst: 3 }, clock);
  expect([budget.take(), budget.take(), budget.take()]).toEqual([undefined, undefined, undefined]);
  await budget.take();
  await budget.take();
  expect(clock.slept).toEqual([20, 20]);
  clock.turn(60_000);
  expect([budget.take(), budget.take(), budget.take()]).toEqual([undefined, undefined, undefined]);
  expect(budget.take()).toBeInstanceOf(Promise);
});

test('those who wait at the same time wait one after the other', () => {
  const clock = new TurnedClock();
  clock.sleep = async (ms) => void clock.slept.push(ms);
  const budget = new RequestBudget({ qps: 10, burst: 1 }, clock);
  for (let request = 0; request < 4; request += 1) budget.take();
  expect(clock.slept).toEqual([100, 200, 300]);
});

test('who gives up gives its place back', async () => {
  const clock = new TurnedClock();
  const budget = new RequestBudget({ qps: 10, burst: 1 }, clock);
  budget.take();
  const aborted = AbortSignal.abort(new Error('given up'));
  for (let attempt = 0; attempt < 5; attempt += 1)
    await expect(budget.take(aborted)).rejects.toThrow('given up');
  await budget.take();
  expect(clock.slept).toEqual([100]);
});

test('however requests come, no stretch of time sees more than its share and one burst', async () => {
  const limits = fc.record({ qps: fc.integer({ min: 1, max: 200 }), burst: fc.integer({ min: 1, max: 50 }) });
  const pauses = fc.array(fc.integer({ min: 0, max: 500 }), { minLength: 1, maxLength: 60 });
  await fc.assert(
    fc.asyncProperty(limits, pauses, async ({ qps, burst }, pausesMs) => {
      const clock = new TurnedClock();
      const budget = new RequestBudget({ qps, burst }, clock);
      const sentAt: number[] = [];
      for (const pauseMs of pausesMs) {
        clock.turn(pauseMs);
        await budget.take();
        sentAt.push(clock.monotonic());
      }
      for (const [first, start] of sentAt.entries()) {
        for (let last = first; last < sentAt.length; last += 1) {
          const seconds = ((sentAt[last] ?? 0) - start) / 1000;
          expect(last - first + 1).toBeLessThanOrEqual(burst + seconds * qps + 1e-3);
        }
      }
    }),
  );
});
