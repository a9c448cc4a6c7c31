import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { JsonValue } from '#core/json.ts';
import {
  applyJsonPatch,
  hashTouched,
  type JsonPatchOperation,
} from '#providers/kubernetes/manifest/json-patch.ts';
import { freeze } from '#test/support/engines/frozen.ts';

const object = freeze({ labels: { 'a/b': '1', 'c~d': '2' }, list: ['x', 'y'], deep: [{ name: 'n' }] });

describe('applyJsonPatch', () => {
  test.each<[string, JsonPatchOperation, JsonValue]>([
    [
      'adds a member',
      { op: 'add', path: '/labels/new', value: 3 },
      { ...object, labels: { ...object.labels, new: 3 } },
    ],
    [
      'replaces a member',
      { op: 'replace', path: '/labels/a~1b', value: '2' },
      { ...object, labels: { 'a/b': '2', 'c~d': '2' } },
    ],
    ['removes a member', { op: 'remove', path: '/labels/c~0d' }, { ...object, labels: { 'a/b': '1' } }],
    ['inserts an element', { op: 'add', path: '/list/1', value: 'z' }, { ...object, list: ['x', 'z', 'y'] }],
    ['appends an element', { op: 'add', path: '/list/-', value: 'z' }, { ...object, list: ['x', 'y', 'z'] }],
    ['replaces an element', { op: 'replace', path: '/list/0', value: 'z' }, { ...object, list: ['z', 'y'] }],
    ['removes an element', { op: 'remove', path: '/list/0' }, { ...object, list: ['y'] }],
    ['enters lists', { op: 'add', path: '/deep/0/name', value: 'm' }, { ...object, deep: [{ name: 'm' }] }],
    [
      'keeps an integer that no double holds',
      { op: 'add', path: '/list/0', value: 9007199254740993n },
      { ...object, list: [9007199254740993n, 'x', 'y'] },
    ],
    ['takes no value for null', { op: 'add', path: '/labels' }, { ...object, labels: null }],
  ])('%s', (_what, operation, patched) => {
    expect(applyJsonPatch(object, [operation])).toEqual({ patched, misfit: undefined });
  });

  test('leaves alone the value of one operation that another one changes', () => {
    const operations = freeze<JsonPatchOperation[]>([
      { op: 'add', path: '/list', value: ['a'] },
      { op: 'add', path: '/list/-', value: 'b' },
    ]);
    expect(applyJsonPatch({}, operations).patched).toEqual({ list: ['a', 'b'] });
  });

  test.each<[JsonPatchOperation]>([
    [{ op: 'replace', path: '/labels/none', value: 1 }],
    [{ op: 'remove', path: '/none' }],
    [{ op: 'add', path: '/none/member', value: 1 }],
    [{ op: 'add', path: '/list/3', value: 1 }],
    [{ op: 'replace', path: '/list/2', value: 1 }],
    [{ op: 'remove', path: '/list/-' }],
    [{ op: 'add', path: '/list/name', value: 1 }],
    [{ op: 'add', path: '/list/0/member', value: 1 }],
    [{ op: 'remove', path: '' }],
    [{ op: 'remove', path: '/labels/toString' }],
  ])('%j does not fit', (operation) => {
    const fitting = { op: 'add', path: '/labels', value: {} } as const;
    expect(applyJsonPatch(object, [fitting, operation])).toEqual({
      patched: { ...object, labels: {} },
      misfit: 1,
    });
  });
});

describe('hashTouched', () => {
  test.each<[string, boolean, JsonValue]>([
    ['/labels/a~1b', true, { ...object, labels: { 'a/b': '2' } }],
    ['/labels/a~1b', false, { ...object, labels: { 'a/b': '1', 'c~d': 'other' }, list: [] }],
    ['/labels/a~1b', true, { ...object, labels: {} }],
    ['/list/0', true, { ...object, list: ['x', 'y', 'z'] }],
    ['/list/-', false, { ...object, labels: {} }],
    ['/deep/0/name', true, { ...object, deep: [] }],
  ])('of %s changes: %s', (path, changes, other) => {
    const operations = [{ op: 'remove', path }] as const;
    expect(hashTouched(object, operations) !== hashTouched(other, operations)).toBe(changes);
  });

  test('tells whether a patch that does something was applied', () => {
    const key = fc.constantFrom('a', 'b', 'x/y', '~0');
    const value = fc.constantFrom<JsonValue>('1', 2, true, ['l'], { m: 'n' });
    fc.assert(
      fc.property(fc.dictionary(key, value), key, value, (members, name, wanted) => {
        const path = `/data/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
        const operations = [{ op: 'add', path, value: wanted }] as const;
        const before = { data: members, other: 1 };
        const { patched: after } = applyJsonPatch(before, operations);
        expect(after).toEqual({ data: { ...members, [name]: wanted }, other: 1 });
        const isChange = JSON.stringify(members[name]) !== JSON.stringify(wanted);
        expect(hashTouched(before, operations) !== hashTouched(after, operations)).toBe(isChange);
      }),
    );
  });
});
