import { expect, test } from 'vitest';
import { getPath, type JsonObject } from '#core/json.ts';
import { createKindRegistry } from '#providers/kubernetes/kinds/index.ts';
import {
  findMaskedKeys,
  listSecretValues,
  maskSecrets,
  maskValues,
  omitSensitiveKeys,
  secretMask,
} from '#providers/kubernetes/manifest/sensitive.ts';
import { freeze } from '#test/support/engines/frozen.ts';

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

test.each([
  ['a command that was recorded', 'kubectl create secret generic s --from-literal=password=planted'],
  [
    'a copy in another annotation',
    JSON.stringify({ apiVersion: 'v1', kind: 'Secret', data: { password: planted } }),
  ],
  [
    'a list of copies',
    JSON.stringify([{ apiVersion: 'v1', kind: 'secret', stringData: { password: 'planted' } }]),
  ],
  ['a text that is no JSON', `{"kind": "Secret", "data": "${planted}`],
])('%s shows neither in results nor in reads', (_what, text) => {
  const secret = freeze({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 's', annotations: { copy: text, 'moniker.spinnaker.io/cluster': 'planted' } },
    data: { password: planted },
  });
  for (const shown of [omitSensitiveKeys(secret, find('secret')), maskSecrets(secret)]) {
    const { 'moniker.spinnaker.io/cluster': cluster, ...others } = getPath(
      shown,
      'metadata',
      'annotations',
    ) as JsonObject;
    expect(cluster).toBe('planted');
    expect(JSON.stringify([others, shown['data']])).not.toMatch(/planted|cGxhbnRlZA==/);
  }
});

test('a value with characters that JSON escapes is found in annotations too', () => {
  const value = 'pla"nted\nline';
  const secret = freeze({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { annotations: { config: JSON.stringify({ password: value }) } },
    data: { password: Buffer.from(value).toString('base64') },
  });
  expect(getPath(maskSecrets(secret), 'metadata', 'annotations')).toEqual({ config: secretMask });
});

test('a masked Secret keeps its keys, and all that is no value', () => {
  const applied = {
    apiVersion: 'v1',
    kind: 'Secret',
    type: 'Opaque',
    data: { a: planted },
    stringData: { b: 'planted' },
  };
  const masked = maskSecrets(makeSecret(JSON.stringify(applied)));
  expect(masked).toEqual({
    apiVersion: 'v1',
    kind: 'Secret',
    type: 'Opaque',
    metadata: {
      name: 's',
      annotations: {
        other: 'kept',
        [record]: JSON.stringify({ ...applied, data: { a: secretMask }, stringData: { b: secretMask } }),
      },
    },
    data: { password: secretMask },
    stringData: { password: secretMask },
  });
});

test.each([
  [`{"data": {"a": "${planted}"`],
  [`["${planted}"]`],
  [{ data: planted }],
  [7],
  ['['.repeat(9_999)],
])('of a record that cannot be read (%.20j) the mask shows', (lastApplied) => {
  const masked = maskSecrets(makeSecret(lastApplied));
  expect(getPath(masked, 'metadata', 'annotations', record)).toBe(secretMask);
});

test('a record that is nested too deep is the mask altogether', () => {
  const deep = `{"data":${'{"a":'.repeat(20_000)}"${planted}"${'}'.repeat(20_001)}`;
  expect(getPath(maskSecrets(makeSecret(deep)), 'metadata', 'annotations', record)).toBe(secretMask);
});

test('Secrets inside a List and in annotations of other kinds are masked', () => {
  const inner = { apiVersion: 'v1', kind: 'Secret', data: { password: planted } };
  const map = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { annotations: { copy: JSON.stringify({ items: [inner] }), plain: 'Secret' } },
    data: { password: 'open' },
  };
  expect(maskSecrets(freeze({ apiVersion: 'v1', kind: 'List', items: [inner, map] }))).toEqual({
    apiVersion: 'v1',
    kind: 'List',
    items: [
      { ...inner, data: { password: secretMask } },
      {
        ...map,
        metadata: {
          annotations: {
            copy: JSON.stringify({ items: [{ ...inner, data: { password: secretMask } }] }),
            plain: 'Secret',
          },
        },
      },
    ],
  });
});

test.each([
  [{ apiVersion: 'v1', kind: 'secret' }, true],
  [{ apiVersion: 'v1', kind: 'SECRET' }, true],
  [{ apiVersion: 'bitnami.com/v1alpha1', kind: 'SealedSecret' }, false],
  [{ apiVersion: 'vault.example.com/v1', kind: 'Secret' }, false],
  [{ apiVersion: 'v1', kind: 'ConfigMap' }, false],
])('%j is a Secret: %s', (object, expected) => {
  const data = { password: planted };
  expect(maskSecrets(freeze({ ...object, data }))['data']).toEqual(
    expected ? { password: secretMask } : data,
  );
});

test('the mask is no base64', () => {
  expect(secretMask).not.toMatch(/^[A-Za-z0-9+/]+=*$/);
});

test('texts lose each value of a Secret, the longest first', () => {
  const secret = {
    apiVersion: 'v1',
    kind: 'Secret',
    data: { a: planted, b: Buffer.from('planted-0815').toString('base64') },
  };
  expect(maskValues('x planted-0815 planted cGxhbnRlZA==', listSecretValues(secret))).toBe(
    `x ${secretMask} ${secretMask} ${secretMask}`,
  );
});

test('what carries the mask is found by its place', () => {
  const masked = maskSecrets(
    makeSecret(JSON.stringify({ kind: 'Secret', data: { password: planted }, stringData: {} })),
  );
  expect(findMaskedKeys(masked)).toEqual([
    'data.password',
    'stringData.password',
    `metadata.annotations.${record} (data.password)`,
  ]);
  expect(findMaskedKeys(maskSecrets(makeSecret('{')))).toContain(`metadata.annotations.${record}`);
  const encoded = Buffer.from(secretMask).toString('base64');
  expect(findMaskedKeys({ apiVersion: 'v1', kind: 'Secret', data: { a: encoded, b: planted } })).toEqual([
    'data.a',
  ]);
  expect(findMaskedKeys(makeSecret(JSON.stringify({ data: { password: planted } })))).toEqual([]);
  const map = { apiVersion: 'v1', kind: 'ConfigMap', data: { a: secretMask } };
  expect(findMaskedKeys(map)).toEqual([]);
  // Of other kinds, too, an annotation may have been hidden whole.
  expect(findMaskedKeys({ ...map, metadata: { annotations: { copy: secretMask } } })).toEqual([
    'metadata.annotations.copy',
  ]);
});
