import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { watchLoopDelay } from '#infra/server/front-door/loop-delay.ts';

test('a process that is kept busy is late until it rests', async () => {
  using delay = watchLoopDelay();
  for (let turn = 0; turn < 60 && delay.ms <= 500; turn += 1) {
    const endMs = performance.now() + 700;
    while (performance.now() < endMs);
    await nextTurn();
  }
  expect(delay.ms).toBeGreaterThan(500);
  await expect.poll(() => delay.ms).toBeLessThan(500);
});
