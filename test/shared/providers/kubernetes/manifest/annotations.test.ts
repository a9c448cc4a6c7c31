import { describe, expect, test } from 'vitest';
import type { Manifest } from '#providers/kubernetes/api/manifest.ts';
import {
  hasAnnotation,
  parseJson,
  readAnnotations,
  readFlagAnnotation,
  readIntegerAnnotation,
  readLabels,
  readListAnnotation,
  readTextAnnotation,
} from '#providers/kubernetes/manifest/annotations.ts';

const annotated = (value: unknown) => ({ metadata: { annotations: { key: value } } }) as unknown as Manifest;

describe('text', () => {
  test.each([
    ['web', 'web'],
    ['', ''],
    ['"web"', 'web'],
    ['"with \\"quotes\\""', 'with "quotes"'],
    ['""', ''],
    ['"', '"'],
    ['"broken \\"', undefined],
    ['"half', '"half'],
    [7, '7'],
    [true, 'true'],
    [null, undefined],
    [{}, undefined],
  ])('of %j is %j', (value, expected) => {
    expect(readTextAnnotation(annotated(value), 'key')).toBe(expected);
  });

  test('is absent where there is nothing to read', () => {
    for (const manifest of [{}, { metadata: null }, { metadata: {} }, { metadata: { annotations: null } }]) {
      expect(readTextAnnotation(manifest, 'key')).toBeUndefined();
      expect(readTextAnnotation(manifest, 'constructor')).toBeUndefined();
      expect(readAnnotations(manifest)).toEqual({});
      expect(readLabels(manifest)).toEqual({});
    }
  });
});

test.each([
  ['7', 7],
  [' 7 ', 7],
  ['"7"', 7],
  ['007', 7],
  ['-1', -1],
  [7, 7],
  ['', undefined],
  ['seven', undefined],
  ['7.5', undefined],
  ['99999999999999999999', undefined],
])('the whole number of %j is %j', (value, expected) => {
  expect(readIntegerAnnotation(annotated(value), 'key')).toBe(expected);
});

test.each([
  ['true', true],
  ['True', true],
  ['"true"', true],
  [true, true],
  ['false', false],
  ['yes', false],
  ['', false],
])('the flag %j is %s', (value, expected) => {
  expect(readFlagAnnotation(annotated(value), 'key')).toBe(expected);
});

test.each([
  ['["service a","service b"]', ['service a', 'service b']],
  ['[]', []],
  ['["a",1,null]', ['a']],
  ['service a', []],
  ['{"a":1}', []],
  ['', []],
])('the list %j is %j', (value, expected) => {
  expect(readListAnnotation(annotated(value), 'key')).toEqual(expected);
});

test('an annotation is there whatever its value', () => {
  expect(hasAnnotation(annotated(''), 'key')).toBe(true);
  expect(hasAnnotation(annotated('x'), 'other')).toBe(false);
});

test('labels and annotations are text', () => {
  const metadata = {
    labels: { a: 'x', b: 1, c: null, d: {}, f: 9007199254740993n },
    annotations: { e: true },
  };
  expect(readLabels({ metadata })).toEqual({ a: 'x', b: '1', f: '9007199254740993' });
  expect(readAnnotations({ metadata })).toEqual({ e: 'true' });
});

test('parseJson answers nothing for what is no JSON', () => {
  expect(parseJson('{"a":1}')).toEqual({ a: 1 });
  expect(parseJson('{')).toBeUndefined();
});
