import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { InvalidInputError } from '#core/errors.ts';
import type { JsonObject, JsonValue } from '#core/json.ts';
import {
  bindDocuments,
  bindKeys,
  expandKeys,
  findMember,
  getSetting,
  mergeDocuments,
  toCanonicalKey,
  toCanonicalPath,
} from '#settings/spring-config.ts';

/** Binds without profiles or environment. */
function bind(...documents: JsonObject[]): JsonObject {
  return bindDocuments({ documents, profiles: [], environment: {} });
}

describe('merge', () => {
  test('maps merge, lists and scalars are replaced, later wins', () => {
    const server = { port: 7002 };
    const first = { kubernetes: { enabled: false, accounts: [{ name: 'a' }, { name: 'b' }] }, server };
    const later = { kubernetes: { enabled: true, accounts: [{ name: 'c' }] } };
    expect(bind(first, later)).toEqual({ ...later, server });
  });

  test('keys that are spelled differently are one key', () => {
    const later = { KUBERNETES: { applyAppLabels: false } };
    expect(bind({ kubernetes: { 'apply-app-labels': true } }, later)).toEqual(later);
  });

  test('a key with nothing below it takes no map away, but empties a list', () => {
    const base = { kubernetes: { enabled: true, accounts: [{ name: 'a' }] } };
    expect(bind(base, { kubernetes: null })).toEqual(base);
    for (const accounts of [null, []])
      expect(bind(base, { kubernetes: { accounts } })).toEqual({ kubernetes: { enabled: true, accounts } });
  });

  test('a key named __proto__ is data', () => {
    const merged = bind(JSON.parse('{"__proto__": {"polluted": true}}'), { a: 1 });
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
    expect(Object.keys(merged)).toContain('a');
  });

  // A key means a map or a leaf everywhere: a scalar between two maps hides the first one.
  const numbers = fc.array(fc.integer(), { maxLength: 3 });
  const leaf = fc.oneof(fc.integer(), fc.boolean(), fc.constant(null), numbers);
  const { document } = fc.letrec<{ document: JsonObject }>((tie) => ({
    document: fc
      .tuple(
        fc.dictionary(fc.constantFrom('a', 'b-c', 'bC'), leaf as fc.Arbitrary<JsonValue>, { maxKeys: 2 }),
        fc.dictionary(
          fc.constantFrom('map', 'MAP', 'other'),
          fc.oneof({ maxDepth: 3 }, fc.constant(null), tie('document')),
          { maxKeys: 2 },
        ),
      )
      .map(([leaves, maps]) => expandKeys({ ...leaves, ...maps })),
  }));

  test('merging is associative', () => {
    fc.assert(
      fc.property(document, document, document, (a, b, c) => {
        const left = mergeDocuments([mergeDocuments([a, b]), c]);
        const right = mergeDocuments([a, mergeDocuments([b, c])]);
        expect(left).toEqual(right);
      }),
    );
  });

  test('merging with itself or with nothing changes nothing', () => {
    fc.assert(
      fc.property(document, (a) => {
        const once = mergeDocuments([a]);
        expect(mergeDocuments([a, a])).toEqual(once);
        expect(mergeDocuments([{}, a, {}])).toEqual(once);
      }),
    );
  });

  test('documents without a common key merge in any order', () => {
    fc.assert(
      fc.property(document, document, (a, b) => {
        const [left, right] = [{ left: a }, { right: b }];
        expect(mergeDocuments([left, right])).toEqual(mergeDocuments([right, left]));
      }),
    );
  });

  test('a list is always the later one, whole', () => {
    fc.assert(
      fc.property(fc.array(fc.anything()), fc.array(fc.integer()), (earlier, later) => {
        const merged = mergeDocuments([{ a: { list: earlier as JsonValue } }, { a: { list: later } }]);
        expect(merged).toEqual({ a: { list: later } });
      }),
    );
  });
});

describe('keys', () => {
  const spellings = [
    'apply-app-labels',
    'applyAppLabels',
    'apply_app_labels',
    'APPLY_APP_LABELS',
    'applyapplabels',
  ];
  test.each(spellings)('%s is found under any other spelling', (spelling) => {
    expect(findMember({ [spelling]: 'x' }, 'applyAppLabels')).toBe('x');
    expect(toCanonicalKey(spelling)).toBe('applyapplabels');
    const bound = bindKeys({ [spelling]: 'x', other: 1 }, ['applyAppLabels']);
    expect(bound).toEqual({ applyAppLabels: 'x', other: 1 });
  });

  test('dotted keys nest, with indexes and at any depth', () => {
    const below = { 'accounts[0].context': 'c', 'accounts[1]': { name: 'b' }, 'v2.apply-app-labels': false };
    const accounts = [{ name: 'a', context: 'c' }, { name: 'b' }];
    expect(expandKeys({ 'kubernetes.accounts[0].name': 'a', kubernetes: below })).toEqual({
      kubernetes: { accounts, v2: { 'apply-app-labels': false } },
    });
  });

  test('a key in brackets and a key that is no path stay whole', () => {
    const whole = { 'x..y': 2, 'u]': 3 };
    expect(expandKeys({ 'a.[b.c].d': 1, ...whole })).toEqual({ a: { 'b.c': { d: 1 } }, ...whole });
  });

  test('a list whose indexes have a gap is refused', () => {
    expect(() => bind({ 'kubernetes.accounts[1].name': 'b' })).toThrow(
      'kubernetes.accounts: expected indexes from 0 without a gap, got 1 of 2',
    );
    expect(() => bind({ 'a[999999999]': 'b' })).toThrow(InvalidInputError);
  });

  test('indexed keys of a later document replace the list', () => {
    expect(bind({ a: { b: [1, 2] } }, { 'a.b[0]': 3 })).toEqual({ a: { b: [3] } });
  });

  test('getSetting() follows a path', () => {
    const settings = { kubernetes: { accounts: [{ 'kubeconfig-file': '/k' }] } };
    expect(getSetting(settings, 'kubernetes.accounts[0].kubeconfigFile')).toBe('/k');
    expect(getSetting(settings, 'kubernetes.accounts[1].kubeconfigFile')).toBeUndefined();
    expect(getSetting(settings, 'kubernetes.toString')).toBeUndefined();
    const path = toCanonicalPath('Kubernetes.accounts[0].kubeconfig-file');
    expect(path).toBe('kubernetes.accounts[0].kubeconfigfile');
  });
});
