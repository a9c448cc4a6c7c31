import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  asJsonArray,
  asJsonObject,
  asString,
  getPath,
  isJsonObject,
  type JsonValue,
  omitNulls,
  withDoubles,
} from '#core/json.ts';

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
