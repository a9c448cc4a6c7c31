import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  asJsonArray,
  asJsonObject,
  asString,
  getPath,
  isJsonObject,
  type JsonValue,
  measureJson,
  omitNulls,
  withDoubles,
} from '../../../shared/core/json.ts';

const json = fc.jsonValue({ maxDepth: 4 }) as fc.Arbitrary<JsonValue>;

test.each([
  [{}, true],
  [{ a: 1 }, true],
  [[], false],
  [null, false],
  [undefined, false],
  ['{}', false],
  [1, false],
])('isJsonObject(%j) is %s', (value, expected) => {
  expect(isJsonObject(value)).toBe(expected);
  expect(asJsonObject(value)).toBe(expected ? value : undefined);
});

test('asJsonArray and asString answer nothing for other types', () => {
  expect(asJsonArray([1])).toEqual([1]);
  expect(asJsonArray({ 0: 1 })).toEqual([]);
  expect(asString('')).toBe('');
  expect(asString(1)).toBeUndefined();
});

describe('getPath', () => {
  const root = { a: { b: { c: null, list: [1] } } };

  test.each([
    [['a', 'b', 'c'], null],
    [['a', 'b', 'list'], [1]],
    [['a', 'b', 'list', '0'], undefined],
    [['a', 'x', 'y'], undefined],
    [['a', 'b', 'c', 'd'], undefined],
    [['toString'], undefined],
    [['a', '__proto__'], undefined],
    [[], root],
  ])('%j', (path, value) => {
    expect(getPath(root, ...path)).toEqual(value);
  });
});

describe('omitNulls', () => {
  test('drops null members at any depth, and keeps nulls of arrays', () => {
    expect(omitNulls({ a: null, b: { c: null, d: [null, { e: null }] } })).toEqual({ b: { d: [null, {}] } });
  });

  test('leaves its argument as it was', () => {
    const value = { a: null, b: { c: null } };
    omitNulls(value);
    expect(value).toEqual({ a: null, b: { c: null } });
  });

  test('keeps a member named like the prototype', () => {
    const value = JSON.parse('{"__proto__": {"a": 1}}') as JsonValue;
    expect(JSON.stringify(omitNulls(value))).toBe('{"__proto__":{"a":1}}');
  });

  test('is settled after one pass', () => {
    fc.assert(
      fc.property(json, (value) => {
        expect(omitNulls(omitNulls(value))).toEqual(omitNulls(value));
      }),
    );
  });
});

describe('withDoubles', () => {
  test.each([
    [{ replicas: 2 }, '{"replicas":2.0}'],
    [[0, -1, 1.5, 80], '[0.0,-1.0,1.5,80.0]'],
    [
      { a: { b: [{ c: 3 }] }, t: 'x2', f: false, n: null },
      '{"a":{"b":[{"c":3.0}]},"t":"x2","f":false,"n":null}',
    ],
    [1e21, '1e+21'],
    [-0, '0.0'],
  ])('writes %j', (value, text) => {
    expect(JSON.stringify(withDoubles(value))).toBe(text);
  });

  test('changes nothing but the way numbers are written', () => {
    fc.assert(
      fc.property(json, (value) => {
        const written = JSON.stringify(withDoubles(value));
        expect(JSON.parse(written)).toEqual(JSON.parse(JSON.stringify(value)));
        expect(written.replaceAll(/"(\\.|[^"\\])*"/g, '')).not.toMatch(/(?<![\d.e+-])-?\d+(?![\d.e])/);
      }),
    );
  });
});

function count(value: JsonValue): number {
  const members = typeof value === 'object' && value !== null ? Object.values(value) : [];
  return 1 + members.map(count).reduce((sum, each) => sum + each, 0);
}

function getDepth(value: JsonValue): number {
  if (typeof value !== 'object' || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(getDepth));
}

function countMembers(value: JsonValue): number {
  if (typeof value !== 'object' || value === null) return 0;
  const own = Array.isArray(value) ? 0 : Object.keys(value).length;
  return Math.max(own, ...Object.values(value).map(countMembers));
}

test('measureJson() counts what a text holds, however it is spelled', () => {
  fc.assert(
    fc.property(json, fc.constantFrom(0, 2, '\t \n'), (value, space) => {
      const measured = measureJson(JSON.stringify(value, null, space), { levels: 10, values: 1_000 });
      expect(measured).toEqual({
        levels: getDepth(value),
        values: count(value),
        members: countMembers(value),
      });
    }),
  );
});

test.each([
  ['["[[{{,,"]', { levels: 1, values: 2, members: 0 }],
  ['["\\"[,", "\\\\", [ ] , { }]', { levels: 2, values: 5, members: 0 }],
  ['["never ends [[[', { levels: 1, values: 2, members: 0 }],
  ['', { levels: 0, values: 1, members: 0 }],
])('measureJson() of %s takes nothing in a string for structure', (text, expected) => {
  expect(measureJson(text, { levels: 10, values: 10 })).toEqual(expected);
});

test.each([
  ['lists in lists', '['.repeat(3e6)],
  ['empty lists', '[],'.repeat(2e6)],
  ['escaped quotes', `"${'\\"'.repeat(3e6)}`],
  ['spaces', ' '.repeat(6e6)],
])('measureJson() takes no time for 6 MB of %s', (_, text) => {
  const start = performance.now();
  measureJson(text, { levels: 500, values: 1e7 });
  expect(performance.now() - start).toBeLessThan(2_000);
});

test('measureJson() stops at the level below the last that counts', () => {
  expect(measureJson('[[]]', { levels: 2, values: 9 }).levels).toBe(2);
  expect(measureJson('[[[[[[', { levels: 2, values: 9 }).levels).toBe(3);
});

test('measureJson() stops at the value after the last that counts', () => {
  const max = { levels: 2, values: 1_000 };
  expect(measureJson(`[${'0,'.repeat(998)}0]`, max).values).toBe(1_000);
  expect(measureJson(`[${'0,'.repeat(1e6)}0]`, max).values).toBe(1_001);
});
