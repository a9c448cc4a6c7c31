import { expect, test } from 'vitest';
import { getPauseMs } from '../../../shared/core/back-off.ts';

const at = (fraction: number) => ({ fraction: () => fraction });

test('pauses double, up to the longest', () => {
  const pauses = [1, 2, 3, 4, 5].map((tries) => getPauseMs({ firstMs: 100, mostMs: 500 }, tries, at(1)));
  expect(pauses).toEqual([100, 200, 400, 500, 500]);
});

test('chance decides of the whole pause, or of what is not fixed', () => {
  expect(getPauseMs({ firstMs: 100 }, 2, at(0))).toBe(0);
  expect(getPauseMs({ firstMs: 100 }, 2, at(0.5))).toBe(100);
  expect(getPauseMs({ firstMs: 100, fixedShare: 0.5 }, 2, at(0))).toBe(100);
  expect(getPauseMs({ firstMs: 100, fixedShare: 0.5 }, 2, at(0.5))).toBe(150);
});
