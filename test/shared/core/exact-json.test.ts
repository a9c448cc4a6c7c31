import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseBoundedJson, parseExactJson } from '#core/bounded-json.ts';
import { JsonNumberError } from '#core/exact-json.ts';
import type { JsonValue } from '#core/json.ts';
import { getPath, isSameJson, isSameNumber, omitNulls, withDoubles } from '#core/json.ts';
import { edgeIntegers, integers } from '#test/support/run/edge-numbers.ts';

/** Integers, and places for them: lists in objects in lists, with texts that look like them. */
const documents = fc.letrec<{ tree: JsonValue }>((tie) => ({
  tree: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    integers,
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.constantFrom('9007199254740993', '\\"9007199254740993', ',9007199254740993', null, true),
    fc.array(tie('tree'), { maxLength: 4 }),
    fc.dictionary(fc.string(), tie('tree'), { maxKeys: 4 }),
  ) as fc.Arbitrary<JsonValue>,
})).tree;

/** JSON written without the code under test. */
function write(value: JsonValue, indent = ''): string {
  if (typeof value === 'bigint') return String(value);
  if (Array.isArray(value)) return `[${value.map((item) => `${indent}${write(item, indent)}`).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).map(
    ([key, item]) => `${indent}${JSON.stringify(key)}:${indent}${write(item, indent)}`,
  );
  return `{${members.join(',')}}`;
}

/** What a reader makes of an integer: a number if a double surely holds it. */
function toRead(integer: bigint): number | bigint {
  return Number.isSafeInteger(Number(integer)) ? Number(integer) : integer;
}

describe('what enters as an integer leaves as that integer', () => {
  test.each(edgeIntegers)('%s', (integer) => {
    const text = `{"a":[${integer}],"b":"${integer}"}`;
    expect(getPath(parseExactJson(text), 'a')).toEqual([toRead(integer)]);
    expect(JSON.stringify(parseExactJson(text))).toBe(text);
  });

  test('wherever it stands', () => {
    fc.assert(
      fc.property(documents, fc.constantFrom('', ' ', '\n\t'), (document, indent) => {
        expect(JSON.stringify(parseExactJson(write(document, indent)))).toBe(write(document));
      }),
      { numRuns: 500 },
    );
  });

  test('after another trip, and without its nulls', () => {
    fc.assert(
      fc.property(fc.array(integers), (list) => {
        const text = `[${list.join(',')}]`;
        const again = JSON.stringify(
          parseExactJson(JSON.stringify(omitNulls(parseExactJson(text) as JsonValue))),
        );
        expect(again).toBe(text);
      }),
    );
  });
});

describe('other numbers', () => {
  test.each([
    ['1.0', '1'],
    ['1.5e3', '1500'],
    ['1e16', '10000000000000000'],
    ['9007199254740993.0', '9007199254740992'],
    ['0.1000000000000000055511151231257827021181583404541015625', '0.1'],
    ['1E-400', '0'],
    ['-0', '0'],
    ['1e21', '1e+21'],
    ['1e-310', '1e-310'],
    ['-5e-324', '-5e-324'],
    [`0.${'0'.repeat(309)}1`, '1e-310'],
  ])('%s is the double that it was', (given, written) => {
    expect(JSON.stringify(parseExactJson(`{"a":${given}}`))).toBe(`{"a":${written}}`);
    expect(parseExactJson(given)).toBe(JSON.parse(given));
  });

  test.each(['1e400', '-1E+400', '9'.repeat(310)])(
    '%s is refused: nothing could be written for it',
    (text) => {
      expect(() => parseExactJson(`[${text}]`)).toThrow(JsonNumberError);
      expect(parseExactJson(`["${text}"]`)).toEqual([text]);
    },
  );
});

/** Texts that look like numbers, some of which are. */
const scribbles = fc
  .array(fc.constantFrom(...'0019.eE+-', '9007199254740993', '1e-310', ',', ' ', '"', '1e400'), {
    maxLength: 12,
  })
  .map((parts) => parts.join(''));

test('what is no JSON for JSON.parse is none, and the same is told of it', () => {
  fc.assert(
    fc.property(scribbles, fc.constantFrom('', '-'), (scribble, sign) => {
      const text = `[${sign}${scribble}]`;
      const [read, expected] = [attempt(parseExactJson, text), attempt(JSON.parse, text)];
      if (read === 'holds a number that is too large') expect(text).toMatch(/\de?\+?\d{3}/i);
      else expect(read).toEqual(expected);
    }),
    {
      numRuns: 5_000,
      examples: [
        ['01234567890123456', ''],
        ['1.2.3.4.5.6.7.8.9', ''],
        ['1e', ''],
        ['1e5', '-'],
      ],
    },
  );
});

/** What a parse makes of a text, integers as doubles; or what it says. */
function attempt(parse: (text: string) => unknown, text: string): unknown {
  try {
    return JSON.parse(JSON.stringify(parse(text)));
  } catch (error) {
    return error instanceof Error ? error.message : error;
  }
}

describe('as doubles', () => {
  test('integers that no double holds stay integers', () => {
    const value = parseExactJson('[9007199254740993,9007199254740991,-9223372036854775808,2,0.5]');
    expect(JSON.stringify(withDoubles(value as JsonValue))).toBe(
      '[9007199254740993,9007199254740991.0,-9223372036854775808,2.0,0.5]',
    );
  });
});

describe('two numbers are the same', () => {
  test.each([
    [9007199254740993n, 9007199254740993n, true],
    [9007199254740993n, 9007199254740992n, false],
    [9007199254740993n, 9007199254740992, false],
    [10n ** 16n, 1e16, true],
    [2n ** 63n - 1n, 2n ** 63n, false],
    [2n ** 64n - 1n, 18446744073709552000n, true],
    [2n ** 64n - 1n, 18446744073709552000, true],
    [-(2n ** 63n), -(2 ** 63), true],
    [-(2n ** 63n), -(2n ** 63n) - 1n, false],
    [10n ** 23n, 1e23, true],
    [0, -0, true],
  ])('to Kubernetes: %s and %s: %s', (one, other, same) => {
    expect([isSameNumber(one, other), isSameNumber(other, one)]).toEqual([same, same]);
    expect(isSameJson({ a: [one] }, { a: [other] })).toBe(same);
  });

  test('if they are read from the same text, and what differs by one is not', () => {
    const within = fc.bigInt({ min: -(2n ** 63n) + 1n, max: 2n ** 63n - 1n });
    fc.assert(
      fc.property(within, (integer) => {
        const [one, same, other] = parseExactJson(`[${integer},${integer},${integer - 1n}]`) as JsonValue[];
        expect([isSameJson(one, same), isSameJson(one, other)]).toEqual([true, false]);
      }),
    );
  });

  test('and other values as they are', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (one, other) => {
        const same = JSON.stringify(sortMembers(one)) === JSON.stringify(sortMembers(other));
        expect(isSameJson(one as JsonValue, other as JsonValue)).toBe(same);
        expect(isSameJson(one as JsonValue, sortMembers(one) as JsonValue)).toBe(true);
      }),
    );
    expect(isSameJson({ a: null }, {})).toBe(false);
    expect(isSameJson({ a: null }, { b: null })).toBe(false);
    expect(isSameJson([], {})).toBe(false);
    expect(isSameJson(JSON.parse('{"__proto__":1}'), {})).toBe(false);
    expect(isSameJson(undefined, null)).toBe(false);
  });
});

/** The same value with its members in order of their names. */
function sortMembers(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortMembers);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(entries.map(([key, member]) => [key, sortMembers(member)]));
}

test.each([
  ['large integers', '9007199254740993,'.repeat(350_000)],
  ['one number of many digits', '9'.repeat(6_000_000)],
  ['many digits of fractions', '0.12345678901234567890,'.repeat(260_000)],
  ['exponents', '1e5,'.repeat(499_000)],
  ['small numbers beside a large one', `9007199254740993,${'1,'.repeat(490_000)}`],
])('takes no time for 6 MB of %s', (_, text) => {
  const before = process.threadCpuUsage();
  const parse = () => parseBoundedJson(`[${text}1]`, { depthMax: 500, valuesMax: 500_000 });
  if (text.length === 6_000_000) expect(parse).toThrow(JsonNumberError);
  else parse();
  expect(process.threadCpuUsage(before).user).toBeLessThan(5_000_000);
});
