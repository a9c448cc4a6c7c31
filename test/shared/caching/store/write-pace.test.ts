import { expect, test } from 'vitest';
import { WritePace } from '#caching/store/write-pace.ts';
import { createStandingClock } from '#test/support/run/test-clock.ts';

const stepMs = 250;

test('calls are halved at a throttle, once for all that were under way, and one more after each step without any', async () => {
  const clock = createStandingClock();
  const pace = new WritePace(16, clock);
  const refuse = () =>
    pace
      .run(async () => {
        throw Object.assign(new Error('slow down'), { name: 'ThrottlingException' });
      })
      .catch(() => undefined);
  await Promise.all([refuse(), refuse(), refuse()]);
  expect(pace.places).toBe(8);
  const seen: number[] = [];
  for (let step = 0; step < 12; step += 1) {
    clock.advance(stepMs);
    await (step < 4 ? refuse() : Promise.all([pace.run(async () => 1), pace.run(async () => 2)]));
    seen.push(pace.places);
  }
  expect(seen).toEqual([4, 2, 1, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
});

test('no more calls are made at a time than there are places, and each has its turn', async () => {
  const clock = createStandingClock();
  const pace = new WritePace(3, clock);
  let [running, most, done] = [0, 0, 0];
  const call = async (): Promise<void> => {
    running += 1;
    most = Math.max(most, running);
    await new Promise(setImmediate);
    running -= 1;
    done += 1;
  };
  await Promise.all(Array.from({ length: 20 }, () => pace.run(call)));
  expect([most, done]).toEqual([3, 20]);
});
