import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isWithinDepth, type JsonValue } from '#core/json.ts';
import { isShallowJson } from '#providers/artifacts/download/json-depth.ts';

function isShallow(text: string, levels: number): boolean {
  return isShallowJson(Buffer.from(text), levels);
}

test.each([
  ['[[]]', 2, true],
  ['[[]]', 1, false],
  ['{"a":{"b":[]}}', 3, true],
  ['{"a":{"b":[]}}', 2, false],
  ['[{},{},[]]', 2, true],
  ['"[[[["', 0, true],
  ['["\\"[[["]', 1, true],
  ['["\\\\",[]]', 2, true],
  ['["\\\\",[]]', 1, false],
  ['', 0, true],
  ['[[[[', 3, false],
])('%s has %d levels or less: %s', (text, levels, shallow) => {
  expect(isShallow(text, levels)).toBe(shallow);
});

test('agrees with what is counted in parsed JSON', () => {
  /** Levels of brackets: those of members, and one for a container without any. */
  function countLevels(value: unknown): number {
    if (typeof value !== 'object' || value === null) return 0;
    return 1 + Math.max(0, ...Object.values(value).map(countLevels));
  }
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 6 }), fc.nat(7), (value, levels) => {
      expect(isShallow(JSON.stringify(value), levels)).toBe(countLevels(value) <= levels);
      if (isShallow(JSON.stringify(value), levels)) {
        expect(isWithinDepth(value as JsonValue, levels)).toBe(true);
      }
    }),
  );
});
