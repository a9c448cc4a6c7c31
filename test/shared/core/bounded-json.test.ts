import fc from 'fast-check';
import { expect, test } from 'vitest';
import { JsonBoundsError, parseBoundedJson, parseVerbatimJson } from '#core/bounded-json.ts';
import { isWithinDepth, type JsonValue } from '#core/json.ts';

const wide = { depthMax: 1_000, valuesMax: 1_000_000 };

test('reads what JSON.parse reads', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 6 }), fc.nat({ max: 2 }), (value, indent) => {
      const text = JSON.stringify(value, undefined, indent);
      const { value: read } = parseBoundedJson(text, wide);
      // Integers that JSON.parse would round are kept: see exact-json.test.ts.
      expect(JSON.parse(JSON.stringify(read))).toEqual(JSON.parse(text));
    }),
  );
});

test('refuses exactly what is nested deeper than allowed', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 6 }), fc.nat({ max: 6 }), (value, depthMax) => {
      const parse = (): unknown => parseBoundedJson(JSON.stringify(value), { ...wide, depthMax });
      // A scalar at level n lies within n objects and arrays; an empty one counts by itself.
      if (countLevels(value as JsonValue) <= depthMax) parse();
      else expect(parse).toThrow(JsonBoundsError);
    }),
  );
});

function countLevels(value: JsonValue): number {
  if (typeof value !== 'object' || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(countLevels));
}

test.each([
  { text: '1', values: 1 },
  { text: '[]', values: 2 },
  { text: '[1,2]', values: 3 },
  { text: '{"a":{"b":[]},"c":"},{[,"}', values: 5 },
  { text: '{"a\\"{[,":1}', values: 2 },
  { text: '{"a\\\\":[],"\\\\\\"{":1}', values: 4 },
  { text: '"\\\\",', values: undefined },
])('counts the values of $text', ({ text, values }) => {
  if (values === undefined) return expect(() => parseBoundedJson(text, wide)).toThrow(SyntaxError);
  expect(parseBoundedJson(text, wide).values).toBe(values);
  expect(() => parseBoundedJson(text, { ...wide, valuesMax: values - 1 })).toThrow(
    `has more than ${values - 1} values`,
  );
});

test('says of a text that is no JSON that it is none', () => {
  for (const text of ['', '{', '"', '"\\', '[1,', '}}}}', 'nothing']) {
    expect(() => parseBoundedJson(text, wide)).toThrow(SyntaxError);
  }
});

test('what it reads exhausts no stack', () => {
  const text = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
  expect(() => parseBoundedJson(text, wide)).toThrow('is nested deeper than 1000 levels');
  expect(isWithinDepth(parseBoundedJson('[[[]]]', wide).value, 3)).toBe(true);
});

function countMembers(value: JsonValue): number {
  if (typeof value !== 'object' || value === null) return 0;
  const own = Array.isArray(value) ? 0 : Object.keys(value).length;
  return Math.max(own, ...Object.values(value).map(countMembers));
}

test('refuses exactly objects of more members than allowed', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 5 }), fc.integer({ min: 1, max: 4 }), (value, membersMax) => {
      const parse = (): unknown => parseBoundedJson(JSON.stringify(value), { ...wide, membersMax });
      if (countMembers(value as JsonValue) <= membersMax) parse();
      else expect(parse).toThrow(`has an object of more than ${membersMax} members`);
    }),
  );
});

test.each([
  ['lists in lists', '['.repeat(3e6)],
  ['empty lists', '[],'.repeat(2e6)],
  ['escaped quotes', `"${'\\"'.repeat(3e6)}`],
  ['spaces', ' '.repeat(6e6)],
])('takes no time for 6 MB of %s', (_, text) => {
  const before = process.threadCpuUsage();
  expect(() => parseBoundedJson(text, { ...wide, membersMax: 1_000 })).toThrow();
  expect(process.threadCpuUsage(before).user).toBeLessThan(2_000_000);
});

test('what is read verbatim is written again as it was', () => {
  const text =
    '{"double":2.0,"exponent":1e3,"small":1.50,"long":18446744073709551615,"plain":3,"list":[-0.0,{"__proto__":1.0}],"text":"2.0"}';
  expect(JSON.stringify(parseVerbatimJson(text, wide))).toBe(text);
  expect(parseVerbatimJson('{"app":"shop"}', wide)).toEqual({ app: 'shop' });
  expect(() => parseVerbatimJson('[[1]]', { ...wide, depthMax: 1 })).toThrow(JsonBoundsError);
  expect(() => parseVerbatimJson('[1,2,3]', { ...wide, valuesMax: 3 })).toThrow(JsonBoundsError);
  expect(() => parseVerbatimJson('no JSON', wide)).toThrow(SyntaxError);
});
