import type { V1LabelSelector } from '@kubernetes/client-node';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { InvalidInputError } from '#core/errors.ts';
import type { JsonObject } from '#core/json.ts';
import { asUnchecked } from '#providers/kubernetes/api/unchecked.ts';
import {
  formatSelectors,
  type LabelSelector,
  labelSelectorsField,
  matchesSelectors,
  readLabelSelector,
} from '#providers/kubernetes/manifest/selectors.ts';
import { parseWith } from '#settings/coerce.ts';

const read = (value: unknown) => parseWith(labelSelectorsField(), value, 'op');
const labels = { app: 'cart', tier: 'web', empty: '' };

/** Conditions, their form in Kubernetes' syntax, and whether they select the labels above. */
const conditions: readonly (readonly [LabelSelector, string, boolean])[] = [
  [{ kind: 'ANY', key: '', values: [] }, '', true],
  [{ kind: 'EQUALS', key: 'app', values: ['cart'] }, 'app = cart', true],
  [{ kind: 'EQUALS', key: 'app', values: ['shop'] }, 'app = shop', false],
  [{ kind: 'EQUALS', key: 'empty', values: [''] }, 'empty = ', true],
  [{ kind: 'EQUALS', key: 'absent', values: [''] }, 'absent = ', false],
  [{ kind: 'NOT_EQUALS', key: 'app', values: ['cart'] }, 'app != cart', false],
  [{ kind: 'NOT_EQUALS', key: 'app', values: ['shop'] }, 'app != shop', true],
  [{ kind: 'NOT_EQUALS', key: 'absent', values: ['x'] }, 'absent != x', true],
  [{ kind: 'CONTAINS', key: 'tier', values: ['db', 'web'] }, 'tier in (db, web)', true],
  [{ kind: 'CONTAINS', key: 'tier', values: ['db'] }, 'tier in (db)', false],
  [{ kind: 'NOT_CONTAINS', key: 'tier', values: ['db', 'web'] }, 'tier notin (db, web)', false],
  [{ kind: 'NOT_CONTAINS', key: 'absent', values: ['db'] }, 'absent notin (db)', true],
  [{ kind: 'EXISTS', key: 'app', values: [] }, 'app', true],
  [{ kind: 'EXISTS', key: 'toString', values: [] }, 'toString', false],
  [{ kind: 'NOT_EXISTS', key: 'app', values: [] }, '!app', false],
  [{ kind: 'NOT_EXISTS', key: 'app.example.com/x', values: [] }, '!app.example.com/x', true],
];

test.each(conditions)('%j is %j, selecting: %s', (condition, text, selects) => {
  expect(formatSelectors([condition])).toBe(text);
  expect(matchesSelectors([condition], labels)).toBe(selects);
  expect(read({ selectors: [condition] })).toEqual([condition]);
});

test('several conditions must all hold', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...conditions)), (chosen) => {
      const selectors = chosen.map(([selector]) => selector);
      expect(matchesSelectors(selectors, labels)).toBe(chosen.every(([, , selects]) => selects));
      const texts = chosen.map(([, text]) => text).filter((text) => text !== '');
      expect(formatSelectors(selectors)).toBe(texts.join(','));
    }),
  );
});

describe('reading a description', () => {
  test.each([undefined, null, {}, { selectors: null }, { selectors: [] }, { selectors: [null] }])(
    'finds no conditions in %j',
    (value) => {
      expect(read(value)).toEqual([]);
      expect(formatSelectors(read(value))).toBe('');
    },
  );

  test('fills in what is absent', () => {
    expect(
      read({ selectors: [{ kind: 'ANY' }, { kind: 'EXISTS', key: 'app', values: null, more: 1 }] }),
    ).toEqual([
      { kind: 'ANY', key: '', values: [] },
      { kind: 'EXISTS', key: 'app', values: [] },
    ]);
    expect(read({ selectors: [{ kind: 'EQUALS', key: 'n', values: [7] }] })).toEqual([
      { kind: 'EQUALS', key: 'n', values: ['7'] },
    ]);
  });

  test.each([
    [{ kind: 'SIMILAR', key: 'a' }, /selectors\[0\]\.kind: expected one of ANY, EQUALS/],
    [{ key: 'a', values: ['b'] }, /selectors\[0\].kind: expected one of .* got none/],
    [{ kind: 'EQUALS', values: ['b'] }, /selectors\[0\].key: expected the key of a label/],
    [{ kind: 'EXISTS', key: 'a,b' }, /key: expected the key of a label/],
    [{ kind: 'EXISTS', key: '!a' }, /key: expected the key of a label/],
    [{ kind: 'EQUALS', key: 'a', values: [] }, /values: expected at least one for EQUALS/],
    [{ kind: 'CONTAINS', key: 'a' }, /values: expected at least one for CONTAINS/],
    [{ kind: 'EQUALS', key: 'a', values: ['b,c'] }, /values: expected values of a label/],
    [{ kind: 'NOT_CONTAINS', key: 'a', values: ['b', 'c)'] }, /values: expected values of a label/],
    [{ kind: 'EQUALS', key: 'a', values: ['x'.repeat(64)] }, /values: expected values of a label/],
    [{ kind: 'EQUALS', key: 'a', values: 'b' }, /values: expected a list/],
  ])('refuses %j', (selector, message) => {
    expect(() => read({ selectors: [selector] })).toThrow(InvalidInputError);
    expect(() => read({ selectors: [selector] })).toThrow(message);
  });

  test.each([['x'], [{ selectors: {} }], [[]]])('refuses %j', (value) => {
    expect(() => read(value)).toThrow(InvalidInputError);
  });

  test('reports every violation at once', () => {
    const selectors = [{ kind: 'EXISTS', key: '' }, { kind: 'ANY' }, { kind: 'EQUALS', key: 'a' }];
    expect(() => read({ selectors })).toThrow(/selectors\[0\].*selectors\[2\]/);
  });
});

test("a workload's own selector becomes the same selection", () => {
  const selector: JsonObject = {
    matchLabels: { app: 'cart' },
    matchExpressions: [
      { key: 'tier', operator: 'In', values: ['web', 'api'] },
      { key: 'tier', operator: 'NotIn', values: ['db'] },
      { key: 'empty', operator: 'Exists' },
      { key: 'old', operator: 'DoesNotExist' },
    ],
  };
  expect(formatSelectors(readLabelSelector(asUnchecked<V1LabelSelector>(selector)))).toBe(
    'app = cart,tier in (web, api),tier notin (db),empty,!old',
  );
  expect(readLabelSelector(undefined)).toEqual([]);
});
