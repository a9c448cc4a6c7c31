import { expect, test } from 'vitest';
import { getPath, type JsonObject } from '../../../../../shared/core/json.ts';
import { createKindRegistry } from '../../../../../shared/providers/kubernetes/kinds/index.ts';
import { omitSensitiveKeys } from '../../../../../shared/providers/kubernetes/manifest/sensitive.ts';
import { freeze } from '../../../../support/frozen.ts';

const { find } = createKindRegistry();
const record = 'kubectl.kubernetes.io/last-applied-configuration';
const planted = 'cGxhbnRlZA==';

/** A Secret with secrets wherever it can have them. */
function makeSecret(lastApplied: unknown): JsonObject {
  return freeze({
    apiVersion: 'v1',
    kind: 'Secret',
    type: 'Opaque',
    metadata: { name: 's', annotations: { other: 'kept', [record]: lastApplied } },
    data: { password: planted },
    stringData: { password: planted },
  }) as JsonObject;
}

test('a secret’s data shows nowhere, not even in the record of its last apply', () => {
  const applied = { kind: 'Secret', type: 'Opaque', data: { a: planted }, stringData: { a: planted } };
  const stripped = omitSensitiveKeys(makeSecret(JSON.stringify(applied)), find('secret'));
  expect(JSON.stringify(stripped)).not.toContain(planted);
  expect(stripped).toEqual({
    apiVersion: 'v1',
    kind: 'Secret',
    type: 'Opaque',
    metadata: { name: 's', annotations: { other: 'kept', [record]: '{"kind":"Secret","type":"Opaque"}' } },
  });
});

test.each([
  [`{"data": {"a": "${planted}"`],
  [`["${planted}"]`],
  [`"${planted}"`],
  [{ data: planted }],
  [7],
  [null],
])('a record that cannot be read (%j) goes altogether', (lastApplied) => {
  const stripped = omitSensitiveKeys(makeSecret(lastApplied), find('secret'));
  expect(JSON.stringify(stripped)).not.toContain(planted);
  expect(getPath(stripped, 'metadata', 'annotations')).toEqual({ other: 'kept' });
});

test('a secret without annotations gets none', () => {
  const secret = { kind: 'Secret', metadata: { name: 's' }, data: { a: planted } };
  expect(omitSensitiveKeys(freeze(secret), find('secret'))).toEqual({
    kind: 'Secret',
    metadata: { name: 's' },
  });
});

test('what has nothing to hide is left alone', () => {
  const manifest = freeze({
    kind: 'ConfigMap',
    metadata: { annotations: { [record]: '{"data":{}}' } },
    data: { a: 'b' },
  });
  expect(omitSensitiveKeys(manifest, find('configMap'))).toBe(manifest);
});
