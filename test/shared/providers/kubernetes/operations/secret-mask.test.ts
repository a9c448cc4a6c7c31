import { afterAll, expect, test } from 'vitest';
import { InvalidInputError } from '#core/errors.ts';
import type { JsonObject, JsonValue } from '#core/json.ts';
import { maskSecrets, secretMask } from '#providers/kubernetes/manifest/sensitive.ts';
import { createConfigMap, createJob, createSecret } from '../manifests.ts';
import { getOperation, loadOperations, openProvider } from '../provider-setup.ts';

const provider = openProvider([{ name: 'test', kubeconfigContents: '{}' }]);
await loadOperations(provider);
afterAll(() => provider[Symbol.asyncDispose]());

const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration';
const live = createSecret('app-credentials', 'planted', {
  namespace: 'shop',
  annotations: { [lastApplied]: JSON.stringify({ data: { text: 'cGxhbnRlZA==' } }) },
});
/** As a read without WRITE answers it. */
const masked = maskSecrets(live);
const { annotations: _, ...identity } = masked['metadata'] as JsonObject;
const advice = 'load the Secret with WRITE on the account, or leave the key out';

/** What is said against a description; empty when it is fine. */
function refuse(name: string, description: JsonObject): string {
  try {
    getOperation(provider, name).prepare({ account: 'test', ...description });
    return '';
  } catch (error) {
    expect(error).toBeInstanceOf(InvalidInputError);
    return (error as Error).message;
  }
}

function deploy(...manifests: JsonValue[]): string {
  return refuse('deployManifest', { moniker: { app: 'shop' }, manifests });
}

function patch(mergeStrategy: string, patchBody: JsonValue, manifestName = 'secret app-credentials'): string {
  return refuse('patchManifest', { manifestName, location: 'shop', patchBody, options: { mergeStrategy } });
}

test('a deploy of what was read without values is refused by name', () => {
  expect(deploy(masked)).toBe(
    `secret app-credentials: data.text, metadata.annotations.${lastApplied} (data.text) hold the mask '******', ` +
      `which stands for a value that was not shown: ${advice}`,
  );
  expect(deploy(live)).toBe('');
});

test.each<[string, JsonObject, string]>([
  ['data', { data: { a: secretMask, b: 'Yg==' } }, 'data.a holds'],
  ['data, encoded', { data: { a: Buffer.from(secretMask).toString('base64') } }, 'data.a holds'],
  ['stringData', { stringData: { 'a.b': secretMask } }, 'stringData.a.b holds'],
  ['stringData with a line end', { stringData: { a: `${secretMask}\n` } }, 'stringData.a holds'],
  ['the whole of it', { data: secretMask }, 'data holds'],
  [
    'an annotation',
    { metadata: { ...identity, annotations: { note: secretMask } } },
    'metadata.annotations.note holds',
  ],
])('a mask in %s of a Secret', (_what, change, words) => {
  const secret = { apiVersion: 'v1', kind: 'Secret', metadata: identity, ...change };
  expect(deploy(secret)).toMatch(`secret app-credentials: ${words} the mask`);
  // In a List, in another case, and beside what is fine.
  const list = { apiVersion: 'v1', kind: 'List', items: [{ ...secret, kind: 'secret' }] };
  expect(deploy(createConfigMap('a', {}), list)).toMatch(`secret app-credentials: ${words} the mask`);
  expect(refuse('deployManifest', { moniker: { app: 'shop' }, manifest: secret })).toContain(words);
});

test('each manifest that carries the mask is named, and so many keys of it', () => {
  const keys = Array.from({ length: 25 }, (_, index) => [`k${index}`, secretMask]);
  const other = { ...createSecret('other', 'x', { namespace: 'shop' }), data: Object.fromEntries(keys) };
  const message = deploy({ ...masked, metadata: identity }, other);
  expect(message).toContain('secret app-credentials: data.text holds the mask');
  expect(message).toContain('secret other: data.k0, data.k1,');
  expect(message).toContain('data.k19 and 5 more hold the mask');
});

test('a Job and what is cleaned up carry no masked copy of a Secret', () => {
  const annotations = { copy: JSON.stringify(masked) };
  const words = "metadata.annotations.copy (data.text) holds the mask '******'";
  const job = createJob({ name: 'smoke', annotations });
  expect(refuse('runJob', { application: 'shop', manifest: job })).toContain(`job smoke: ${words}`);
  expect(refuse('cleanupArtifacts', { manifests: [createConfigMap('a', {}, { annotations })] })).toContain(
    `configMap a: ${words}`,
  );
  expect(refuse('cleanupArtifacts', { manifests: [masked] })).toContain('secret app-credentials: data.text');
});

test.each<[string, JsonValue, string]>([
  ['strategic', { data: { a: secretMask } }, 'data.a'],
  ['merge', { stringData: { a: secretMask, b: 'fine' } }, 'stringData.a'],
  ['merge', { metadata: { annotations: { note: secretMask } } }, 'metadata.annotations.note'],
  [
    'merge',
    { metadata: { annotations: (masked['metadata'] as JsonObject)['annotations'] ?? null } },
    '(data.text)',
  ],
  ['json', [{ op: 'replace', path: '/data/a', value: secretMask }], 'data.a'],
  ['json', [{ op: 'add', path: '/stringData/a~1b', value: secretMask }], 'stringData.a/b'],
  ['json', [{ op: 'add', path: '/stringData', value: { a: secretMask } }], 'stringData.a'],
  [
    'json',
    [
      { op: 'remove', path: '/data/a' },
      { op: 'replace', path: '/metadata', value: { annotations: { note: secretMask } } },
    ],
    'metadata.annotations.note',
  ],
  [
    'json',
    [{ op: 'add', path: '/metadata/annotations/a~1b', value: secretMask }],
    'metadata.annotations.a/b',
  ],
])('a %s patch with the mask: %j', (mergeStrategy, patchBody, place) => {
  for (const manifestName of ['secret app-credentials', 'Secret app-credentials']) {
    const message = patch(mergeStrategy, patchBody, manifestName);
    expect(message).toContain(`${manifestName}: `);
    expect(message).toContain(`${place} holds the mask '******'`);
  }
  expect(patch(mergeStrategy, JSON.parse(JSON.stringify(patchBody).replaceAll(secretMask, 'real')))).toBe('');
});

test('six asterisks are no mask in what is no Secret', () => {
  expect(patch('merge', { data: { a: secretMask } }, 'configMap flags')).toBe('');
  expect(patch('json', [{ op: 'add', path: '/data/a', value: secretMask }], 'configMap flags')).toBe('');
  expect(deploy(createConfigMap('flags', { a: secretMask }))).toBe('');
  expect(
    deploy({
      apiVersion: 'bitnami.com/v1alpha1',
      kind: 'SealedSecret',
      metadata: identity,
      data: { a: secretMask },
    }),
  ).toBe('');
});

test('a pointer of a million steps is looked at in no time', () => {
  const path = `/data${'/a'.repeat(500_000)}`;
  const used = process.threadCpuUsage();
  expect(patch('json', [{ op: 'add', path, value: 'x' }])).toBe('');
  expect(process.threadCpuUsage(used).user / 1_000).toBeLessThan(2_000);
});
