import { expect, test } from 'vitest';
import { parseQuantity } from '#providers/kubernetes/reads/pod-metrics.ts';

test.each([
  ['0', 0],
  ['250m', 0.25],
  ['1', 1],
  ['1.5', 1.5],
  ['12345678n', 0.012345678],
  ['16Mi', 16_777_216],
  ['24576Ki', 25_165_824],
  ['1e3', 1_000],
  ['2E', 2e18],
  ['2k', 2_000],
  ['nonsense', 0],
  [undefined, 0],
])('the quantity %j is %d', (text, number) => {
  expect(parseQuantity(text)).toBeCloseTo(number, 12);
});
