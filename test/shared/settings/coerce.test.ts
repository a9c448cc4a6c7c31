import fc from 'fast-check';
import { describe, expect, expectTypeOf, test } from 'vitest';
import { InvalidInputError } from '#core/errors.ts';
import {
  booleanField,
  enumField,
  type Field,
  intField,
  jsonField,
  jsonObjectField,
  listOf,
  nameListField,
  objectField,
  parseAt,
  parseWith,
  requireField,
  settingsField,
  stringField,
  stringListField,
  stringMapField,
  withDefault,
} from '#settings/coerce.ts';

const secret = 'hunter2-planted-secret';

/** Reads one field `f` of an object. */
function read<T>(field: Field<T>, value: unknown): T | undefined {
  return parseWith(requireField(objectField({ f: field })), { f: value }, 'op').f as T;
}

/** The messages with which `parse` refuses its input. */
function errorsOf(parse: () => unknown): readonly string[] {
  try {
    parse();
  } catch (error) {
    if (error instanceof InvalidInputError) return error.errors;
    throw error;
  }
  throw new Error('expected InvalidInputError');
}

function expectError(parse: () => unknown, message: string): void {
  expect(errorsOf(parse)).toEqual([message]);
}

describe('intField', () => {
  test.each([
    [3, 3],
    ['3', 3],
    [' 3 ', 3],
    ['-7', -7],
    ['007', 7],
    [3.0, 3],
    [2.9, 2],
    [-2.9, -2],
    [-0.5, 0],
    ['', undefined],
    [null, undefined],
    [undefined, undefined],
    [2147483647, 2147483647],
  ])('reads %j as %j', (value, expected) => {
    expect(read(intField(), value)).toBe(expected);
  });

  test.each([
    ['2.9', 'op: f: expected a whole number, got a string (not shown)'],
    ['x', 'op: f: expected a whole number, got a string (not shown)'],
    ['0x10', 'op: f: expected a whole number, got a string (not shown)'],
    [true, 'op: f: expected a whole number, got true'],
    [[3], 'op: f: expected a whole number, got a list'],
    [{}, 'op: f: expected a whole number, got an object'],
    [2147483648, 'op: f: expected a whole number, got 2147483648'],
    [9007199254740993n, 'op: f: expected a whole number, got 9007199254740993'],
  ])('refuses %j', (value, message) => {
    expect(errorsOf(() => read(intField(), value))).toEqual([message]);
  });

  test('keeps and names its bounds', () => {
    expect(read(intField({ min: 1, max: 4 }), '4')).toBe(4);
    expectError(
      () => read(intField({ min: 1, max: 4 }), 5),
      'op: f: expected a whole number from 1 to 4, got 5',
    );
    expectError(() => read(intField({ min: 1 }), 0), 'op: f: expected a whole number of at least 1, got 0');
    expectError(() => read(intField({ max: 1 }), 2), 'op: f: expected a whole number of at most 1, got 2');
    expect(read(intField({ max: Number.MAX_SAFE_INTEGER }), '30000000000')).toBe(30000000000);
  });

  test('reads the text of a number as the number', () => {
    fc.assert(
      fc.property(fc.integer(), (number) => {
        expect(read(intField(), String(number))).toBe(read(intField(), number));
      }),
    );
  });
});

describe('booleanField', () => {
  test.each([
    [true, true],
    [false, false],
    ['true', true],
    ['False', false],
    ['TRUE', true],
    [' false ', false],
    [1, true],
    [9007199254740993n, true],
    [0, false],
    ['', undefined],
    [null, undefined],
  ])('reads %j as %j', (value, expected) => {
    expect(read(booleanField(), value)).toBe(expected);
  });

  test.each(['yes', 'tRue', '1', 1.5, [], {}])('refuses %j', (value) => {
    expect(errorsOf(() => read(booleanField(), value))[0]).toMatch(/^op: f: expected true or false, got /);
  });
});

describe('stringField', () => {
  test.each([
    ['a', 'a'],
    ['', ''],
    [' a ', ' a '],
    [3, '3'],
    [2.5, '2.5'],
    [true, 'true'],
    [null, undefined],
  ])('reads %j as %j', (value, expected) => {
    expect(read(stringField(), value)).toBe(expected);
  });

  test.each([[['a']], [{ a: 1 }]])('refuses %j', (value) => {
    expect(errorsOf(() => read(stringField(), value))[0]).toMatch(/^op: f: expected a string, got an? /);
  });
});

describe('enumField', () => {
  test('takes its own values only', () => {
    const field = enumField(['RED_BLACK', 'NONE']);
    expect(read(field, 'NONE')).toBe('NONE');
    expect(read(field, null)).toBeUndefined();
    expectError(
      () => read(field, 'none'),
      'op: f: expected one of RED_BLACK, NONE, got a string (not shown)',
    );
  });
});

describe('lists, maps and objects', () => {
  test('a single value is no list', () => {
    expectError(() => read(stringListField(), 'a'), 'op: f: expected a list, got a string (not shown)');
    expectError(() => read(stringListField(), { 0: 'a' }), 'op: f: expected a list, got an object');
  });

  test('items coerce, null items are dropped, wrong ones are named by their place', () => {
    expect(read(stringListField(), ['a', 1, null, true])).toEqual(['a', '1', 'true']);
    expect(read(stringListField(), null)).toBeUndefined();
    expectError(() => read(stringListField(), ['a', ['b']]), 'op: f[1]: expected a string, got a list');
  });

  test('map values coerce, null members are dropped, odd keys are kept', () => {
    const value = JSON.parse('{"cascading":true,"gracePeriodSeconds":5,"x":null,"constructor":"c"}');
    expect(read(stringMapField(), value)).toEqual({
      cascading: 'true',
      gracePeriodSeconds: '5',
      constructor: 'c',
    });
    expectError(() => read(stringMapField(), { a: { b: 1 } }), 'op: f.a: expected a string, got an object');
  });

  test('objects ignore unknown fields and report every violation', () => {
    const schema = requireField(
      objectField({
        app: requireField(stringField()),
        replicas: withDefault(intField(), 0),
        manifests: listOf(objectField({ name: stringField() })),
      }),
    );
    expect(parseWith(schema, { app: 'shop', stage: { context: 1 } }, 'op')).toEqual({
      app: 'shop',
      replicas: 0,
      manifests: undefined,
    });
    expect(errorsOf(() => parseWith(schema, { replicas: [], manifests: [{}, { name: {} }] }, 'op'))).toEqual([
      'op: app: expected a value, got none',
      'op: replicas: expected a whole number, got a list',
      'op: manifests[1].name: expected a string, got an object',
    ]);
    expectError(() => parseWith(schema, null, 'op'), 'op: expected a value, got none');
    expectError(() => parseWith(schema, [], 'op'), 'op: expected an object, got a list');
  });

  test('settings may spell their keys in any way', () => {
    const field = settingsField({ cacheThreads: intField(), name: stringField() });
    expect(read(field, { 'cache-threads': '2', NAME: 'a', other: 1 })).toEqual({
      cacheThreads: 2,
      name: 'a',
    });
    expect(read(field, null)).toBeUndefined();
    expectError(
      () => read(field, { cache_threads: [] }),
      'op: f.cacheThreads: expected a whole number, got a list',
    );
    expectError(() => read(field, []), 'op: f: expected an object, got a list');
  });

  test('JSON is taken as it is', () => {
    const manifest = { kind: 'Pod', metadata: { labels: null } };
    expect(read(jsonObjectField(), manifest)).toBe(manifest);
    expect(read(jsonField(), [manifest, 1])).toEqual([manifest, 1]);
    expectError(() => read(jsonObjectField(), [manifest]), 'op: f: expected an object, got a list');
  });
});

describe('nameListField', () => {
  test.each([
    [
      ['a', 1],
      ['a', '1'],
    ],
    ['a, b', ['a', 'b']],
    ['a', ['a']],
    ['', []],
    [[], []],
    [null, undefined],
  ])('reads %j as %j', (value, expected) => {
    expect(read(nameListField(), value)).toEqual(expected);
  });

  test.each([
    [[''], 'op: f[0]: expected a name, got an empty string'],
    ['a,', 'op: f[1]: expected a name, got an empty string'],
    [[' '], 'op: f[0]: expected a name, got an empty string'],
    [{}, 'op: f: expected a list, got an object'],
    [3, 'op: f: expected a list, got 3'],
  ])('refuses %j', (value, message) => {
    expect(errorsOf(() => read(nameListField(), value))).toEqual([message]);
  });
});

test('parseAt() begins messages with the whole path', () => {
  const schema = requireField(objectField({ names: stringListField() }));
  expectError(
    () => parseAt(schema, { names: [[]] }, 'kubernetes.accounts[0]'),
    'kubernetes.accounts[0].names[0]: expected a string, got a list',
  );
  expectError(() => parseAt(schema, [], 'kubernetes'), 'kubernetes: expected an object, got a list');
  expectError(() => parseAt(listOf(schema), [1], 'list'), 'list[0]: expected an object, got 1');
});

test('withDefault() fills in for null and absence, not for other empty values', () => {
  expect(read(withDefault(stringField(), 'd'), null)).toBe('d');
  expect(read(withDefault(stringField(), 'd'), undefined)).toBe('d');
  expect(read(withDefault(stringField(), 'd'), '')).toBe('');
  expect(read(withDefault(booleanField(), true), false)).toBe(false);
});

test('types say what may be absent', () => {
  const parsed = parseWith(
    requireField(
      objectField({ a: intField(), b: withDefault(intField(), 1), c: requireField(stringField()) }),
    ),
    { c: 'x' },
    '',
  );
  expectTypeOf(parsed).toEqualTypeOf<{ a: number | undefined; b: number; c: string }>();
});

test('no message ever holds a string of the input', () => {
  const fields: Field<unknown>[] = [
    intField(),
    booleanField(),
    enumField(['a']),
    stringListField(),
    stringMapField(),
    jsonObjectField(),
    listOf(intField()),
    objectField({ a: intField() }),
  ];
  const inputs = [secret, [secret], { a: secret }, [[secret]], { a: { a: [secret] } }];
  for (const field of fields) {
    for (const input of inputs) {
      try {
        read(field, input);
      } catch (error) {
        expect((error as Error).message).not.toContain(secret);
      }
    }
  }
});

describe('data without end', () => {
  const pair = objectField({ one: intField(), other: booleanField() });

  test('of many wrong items the first 100 violations are told, and how many more there are', () => {
    const items = Array.from({ length: 4_000 }, () => ({ one: 'x', other: 'y' }));
    const errors = errorsOf(() => read(listOf(pair), items));
    expect(errors).toHaveLength(101);
    expect(errors[99]).toMatch(/^op: f\[49\]\.other: expected true or false/);
    expect(errors[100]).toBe('and 7900 more');
  });

  test('lists in lists add up', () => {
    const items = Array.from({ length: 300 }, () => Array.from({ length: 2_000 }, () => 'x'));
    const errors = errorsOf(() => read(listOf(listOf(intField())), items));
    expect(errors).toHaveLength(101);
    expect(errors[100]).toBe('and 599900 more');
  });

  test('a list that is too long is refused before its items are looked at', () => {
    let looked = 0;
    const item = stringField().transform((text) => {
      looked += 1;
      return text;
    });
    const items = Array.from({ length: 5_001 }, () => 'x');
    expectError(() => read(listOf(item), items), 'op: f: expected at most 5000 items, got 5001');
    expect(looked).toBe(0);
    expect(read(listOf(item, { itemsMax: 5_001 }), items)).toHaveLength(5_001);
    expect(looked).toBe(5_001);
  });

  test('a map that is too large is refused', () => {
    const map = Object.fromEntries(Array.from({ length: 1_001 }, (_, index) => [`k${index}`, []]));
    expectError(() => read(stringMapField(), map), 'op: f: expected at most 1000 members, got 1001');
  });

  test('a violation at a name of a megabyte is cut off', () => {
    const [error] = errorsOf(() => read(stringMapField(), { ['k'.repeat(1e6)]: [] }));
    expect(error).toHaveLength(2_000);
    expect(error).toMatch(/^op: f\.k+…$/);
  });
});
