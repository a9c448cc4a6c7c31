import fc from 'fast-check';
import { expect, test } from 'vitest';
import { includesVersion, isOlder } from '#providers/kubernetes/api/resource-version.ts';

test('are compared as the numbers they are', () => {
  const version = fc.bigInt({ min: 0n, max: 2n ** 64n });
  fc.assert(
    fc.property(version, version, (one, other) => {
      expect(isOlder(String(one), String(other))).toBe(one < other);
      expect(includesVersion(String(one), String(other))).toBe(one >= other);
    }),
  );
});

test('say nothing of what is no number, but that it includes itself', () => {
  for (const strange of ['', 'abc', '1-2', '-1']) {
    expect(isOlder(strange, '5')).toBe(false);
    expect(isOlder('5', strange)).toBe(false);
    expect(includesVersion(strange, '5')).toBe(false);
    expect(includesVersion(strange, strange)).toBe(true);
  }
});

test('what has more digits than etcd counts tells nothing', () => {
  const [one, other] = ['1'.repeat(21), '2'.repeat(21)] as const;
  expect(isOlder(one, other)).toBe(false);
  expect(includesVersion(other, one)).toBe(false);
  expect(includesVersion(one, one)).toBe(true);
});
