import { describe, expect, test } from 'vitest';
import type { JsonObject } from '#core/json.ts';
import { listAnnotationOwners, moveManagedFields } from '#providers/kubernetes/apply/managed-fields.ts';

const annotation = { 'f:kubectl.kubernetes.io/last-applied-configuration': {} };
const applied = { 'f:metadata': { 'f:annotations': { '.': {}, ...annotation } } };

/** @param owner manager and operation, such as `kubectl Apply` */
function entry(owner: string, fieldsV1: JsonObject, more: JsonObject = {}): JsonObject {
  const [manager = '', operation = ''] = owner.split(' ');
  return { manager, operation, apiVersion: 'v1', time: 'then', fieldsType: 'FieldsV1', fieldsV1, ...more };
}

function withEntries(...managedFields: JsonObject[]): JsonObject {
  return { metadata: { managedFields } };
}

test('listAnnotationOwners names those who wrote the annotation by one operation', () => {
  const object = withEntries(
    entry('a Update', applied),
    entry('b Update', { 'f:metadata': { 'f:annotations': {} } }),
    entry('c Apply', applied),
    entry('a Update', applied, { apiVersion: 'v2' }),
  );
  expect(listAnnotationOwners(object, 'Update')).toEqual(['a']);
  expect(listAnnotationOwners(object, 'Apply')).toEqual(['c']);
  expect(listAnnotationOwners({}, 'Apply')).toEqual([]);
});

describe('moveManagedFields', () => {
  const data = (...keys: string[]) => ({ 'f:data': Object.fromEntries(keys.map((key) => [`f:${key}`, {}])) });

  test('joins the fields to those that the new owner applied', () => {
    const status = entry('csa Update', { 'f:status': {} }, { subresource: 'status' });
    const object = withEntries(
      entry('kubectl Apply', data('a', 'b')),
      entry('csa Update', data('b', 'c')),
      status,
    );
    expect(moveManagedFields(object, ['csa'], 'kubectl')).toEqual([
      entry('kubectl Apply', data('a', 'b', 'c')),
      status,
    ]);
  });

  test('hands them over where the new owner has applied nothing', () => {
    const object = withEntries(entry('csa Update', data('a')), entry('other Update', data('b')));
    expect(moveManagedFields(object, ['csa'], 'kubectl')).toEqual([
      { ...entry('csa Apply', data('a')), manager: 'kubectl' },
      entry('other Update', data('b')),
    ]);
  });

  test('drops fields of another version, which cannot be joined', () => {
    const old = entry('csa Update', data('x'), { apiVersion: 'v1beta1' });
    const object = withEntries(old, entry('kubectl Apply', data('a')));
    expect(moveManagedFields(object, ['csa'], 'kubectl')).toEqual([entry('kubectl Apply', data('a'))]);
  });

  test('keeps a node that is a field itself apart from one that only has children', () => {
    const leaf = { 'f:data': {} };
    const object = withEntries(entry('kubectl Apply', leaf), entry('csa Update', data('a')));
    expect(moveManagedFields(object, ['csa'], 'kubectl')).toEqual([
      entry('kubectl Apply', { 'f:data': { '.': {}, 'f:a': {} } }),
    ]);
  });

  test('is undefined when there is nothing to move', () => {
    expect(
      moveManagedFields(withEntries(entry('kubectl Apply', data('a'))), ['csa'], 'kubectl'),
    ).toBeUndefined();
    expect(moveManagedFields({}, ['csa'], 'kubectl')).toBeUndefined();
    expect(moveManagedFields(withEntries(entry('a Update', applied)), [], 'kubectl')).toBeUndefined();
  });
});
