import { expect, test } from 'vitest';
import type { JsonValue } from '#core/json.ts';
import {
  isObjectNotFound,
  isResourceNotServed,
  KubernetesApiError,
  parseApiError,
} from '#providers/kubernetes/api/errors.ts';
import { secretRefusalCausesMax, withoutSecretValues } from '#providers/kubernetes/client/secret-refusal.ts';
import { answerStream, configMaps, createTestWatchClient } from '../watch/watch-setup.ts';
import { answerJson, startScriptedServer } from './scripted-server.ts';

const secrets = { apiVersion: 'v1', plural: 'secrets' };
const path = '/api/v1/namespaces/shop/secrets/keys';
const planted = 'planted-0815';
const encoded = Buffer.from(planted).toString('base64');
const body = JSON.stringify({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 'keys' },
  data: { password: encoded },
});
const rest = 'what the API server says is left out, since it may quote values of the Secret';

/** The error of an answer with this Status. */
function refuse(status: number, answer: { [key: string]: JsonValue }): KubernetesApiError {
  return parseApiError(status, JSON.stringify({ kind: 'Status', ...answer }));
}

function tell(error: KubernetesApiError, request: { path: string; body?: string } = { path, body }) {
  const told = withoutSecretValues(error, secrets, request);
  expect(JSON.stringify([told.message, told, told.details, String(told.cause)])).not.toMatch(
    new RegExp(`${planted}|${encoded}`),
  );
  return told;
}

/** What the API server says by itself, by status and reason. */
const ordinary: { [answer: string]: string[] } = {
  '404 NotFound': [
    'secrets "keys" not found',
    'namespaces "shop" not found',
    'the server could not find the requested resource',
  ],
  '409 AlreadyExists': ['secrets "keys" already exists'],
  '403 Forbidden': [
    'secrets "keys" is forbidden: User "system:serviceaccount:spin:busdriver" cannot patch resource "secrets" in API group "" in the namespace "shop"',
    'secrets is forbidden: User "jane@example.com" cannot list resource "secrets" in API group "" at the cluster scope',
    'secrets "keys" is forbidden: exceeded quota: small, requested: secrets=1, used: secrets=9, limited: secrets=9',
    'secrets "keys" is forbidden: unable to create new content in namespace shop because it is being terminated',
  ],
  '409 Conflict': [
    'Operation cannot be fulfilled on secrets "keys": the object has been modified; please apply your changes to the latest version and try again',
  ],
};
const sentences = Object.entries(ordinary).flatMap(([answer, messages]) =>
  messages.map((message) => ({ answer, message })),
);

test.each(sentences)('tells as it is: $message', ({ answer, message }) => {
  const status = Number.parseInt(answer, 10);
  const reason = answer.slice(4);
  const told = tell(refuse(status, { message, reason, details: { name: 'keys', kind: 'secrets' } }));
  expect(told).toMatchObject({ message, status, reason });
});

test.each([
  [
    'admission webhook "policy.example.com" denied the request',
    `: password ${planted} is too weak`,
    403,
    'Forbidden',
  ],
  [
    'Internal error occurred: failed calling webhook "policy.example.com"',
    `: could not send ${encoded}`,
    500,
    'InternalError',
  ],
  [
    `secrets "keys" is forbidden: ValidatingAdmissionPolicy 'weak' with binding 'all' denied request`,
    `: ${planted}`,
    422,
    'Invalid',
  ],
])('tells who refuses, not in which words: %s', (...refusal) => {
  const [beginning, words, status, reason] = refusal;
  expect(tell(refuse(status, { message: beginning + words, reason }))).toMatchObject({
    message: beginning,
    status,
    reason,
  });
});

test.each([
  ['other words', refuse(400, { message: `I do not like ${planted}`, reason: 'BadRequest' }), ', BadRequest'],
  ['a reason that is none', refuse(418, { message: 'no', reason: planted }), ''],
  ['a page of a proxy', parseApiError(502, `<html>cannot forward ${encoded}</html>`), ''],
  ['an echo of the request', parseApiError(413, body), ''],
  ['one that goes on', refuse(500, { message: `strict decoding error: unknown field "a" ${planted}` }), ''],
  ['a value in place of a name', refuse(404, { message: `secrets "${planted}\\n" not found` }), ''],
])('leaves out %s', (_what, error, reason) => {
  expect(tell(error).message).toBe(`Secret "keys" was refused (HTTP ${error.status}${reason}): ${rest}`);
});

test('tells the fields and what is wrong with them, unless a webhook put a value there', () => {
  const causes = [
    { field: 'data[a.crt]', reason: 'FieldValueRequired', message: `Required value: ${planted}` },
    { field: `data.${planted}`, reason: 'FieldValueInvalid', message: 'Invalid value' },
    { field: planted, reason: 'FieldValueInvalid', message: 'Invalid value' },
    { field: 'data.password', reason: planted, message: planted },
    { field: 'metadata.name', reason: 'FieldValueInvalid', message: `Invalid value: "${planted}"` },
  ];
  const told = tell(refuse(422, { message: planted, reason: 'Invalid', details: { name: planted, causes } }));
  expect(told.message).toBe(
    'Secret "keys" is invalid: data[a.crt]: Required value, metadata.name: Invalid value',
  );
  expect(told.details?.['causes']).toEqual([
    { field: 'data[a.crt]', reason: 'FieldValueRequired' },
    { field: 'metadata.name', reason: 'FieldValueInvalid' },
  ]);
});

test('tells of so many fields, and how many more there are', () => {
  const causes = Array.from({ length: secretRefusalCausesMax + 7 }, (_, index) => ({
    field: `data.k${index}`,
    reason: 'FieldValueRequired',
  }));
  const { message } = tell(refuse(422, { message: 'no', reason: 'Invalid', details: { causes } }));
  expect(message).toContain(`data.k${secretRefusalCausesMax - 1}: Required value, and 7 more`);
  expect(message).not.toContain(`data.k${secretRefusalCausesMax}:`);
});

test('a value in a JSON patch or in stringData is not taken for a key', () => {
  const details = { causes: [{ field: `data[${planted}]`, reason: 'FieldValueInvalid' }] };
  const error = refuse(422, { message: 'no', reason: 'Invalid', details });
  const operations = [{ op: 'add', path: '/data/a', value: encoded }];
  for (const sent of [operations, { stringData: { a: planted } }, { data: { a: encoded } }]) {
    expect(tell(error, { path, body: JSON.stringify(sent) }).message).toContain(rest);
  }
});

test('nor is a number that no double holds', () => {
  const number = '9007199254740993';
  const details = { causes: [{ field: `data[${number}]`, reason: 'FieldValueRequired' }] };
  const error = refuse(422, { message: 'no', reason: 'Invalid', details });
  const told = tell(error, { path, body: `{"stringData":{"a":${number}}}` });
  expect(told.message).not.toContain(number);
});

test('what callers go by stays', () => {
  const missing = tell(refuse(404, { reason: 'NotFound', message: 'x', details: { name: 'keys' } }));
  expect([isObjectNotFound(missing), isResourceNotServed(missing)]).toEqual([true, false]);
  const unserved = tell(refuse(404, { reason: 'NotFound', message: 'x', details: {} }));
  expect([isObjectNotFound(unserved), isResourceNotServed(unserved)]).toEqual([false, true]);
  const busy = tell(
    refuse(429, { reason: 'TooManyRequests', message: 'x', details: { retryAfterSeconds: 3 } }),
  );
  expect(busy.details).toMatchObject({ retryAfterSeconds: 3 });
});

test('whose credentials are refused is told, in our own words alone', () => {
  const ours = ': the API server refuses the credentials of account "prod" (context "a"); renew them';
  expect(tell(new KubernetesApiError(401, 'Unauthorized', `no ${planted}${ours}`)).message).toBe(
    `Unauthorized${ours}`,
  );
});

test('the Secret is named by the path, or by the manifest that makes it', () => {
  const error = refuse(400, { message: 'x', reason: 'BadRequest' });
  const collection = '/api/v1/namespaces/shop/secrets?fieldManager=kubectl';
  expect(tell(error, { path: collection, body }).message).toMatch(/^Secret "keys" was/);
  expect(tell(error, { path: collection }).message).toMatch(/^Secret was/);
  expect(tell(error, { path: `${path}?force=true`, body: '[]' }).message).toMatch(/^Secret "keys" was/);
});

test('a Secret that was sent to another kind counts as well', () => {
  const error = refuse(400, { message: `not a ConfigMap: ${planted}`, reason: 'BadRequest' });
  const configMap = { apiVersion: 'v1', plural: 'configmaps' };
  const told = withoutSecretValues(error, configMap, {
    path: '/api/v1/namespaces/shop/configmaps/keys',
    body,
  });
  expect(told.message).toBe(`Secret "keys" was refused (HTTP 400, BadRequest): ${rest}`);
});

test('what is said of other kinds is not touched', () => {
  const error = refuse(400, { message: planted, reason: 'BadRequest' });
  const release = {
    apiVersion: 'helm.example.com/v2',
    spec: { valuesFrom: [{ kind: 'Secret', name: 'a' }] },
  };
  for (const other of [
    { apiVersion: 'v1', plural: 'configmaps' },
    { apiVersion: 'vault.example.com/v1', plural: 'secrets' },
  ]) {
    expect(withoutSecretValues(error, other, { path, body: JSON.stringify(release) })).toBe(error);
  }
  const lost = new Error('lost');
  expect(withoutSecretValues(lost, secrets, { path, body })).toBe(lost);
});

test.each([
  ['strict decoding error: '.repeat(45_000)],
  [`strict decoding error: ${'unknown field "a", '.repeat(50_000)}`],
  [`.data.${'a'.repeat(1_000_000)}`],
  ['.data.a'.repeat(150_000)],
  [`secrets "${'a'.repeat(1_000_000)}`],
  ['cannot restore '.repeat(70_000)],
  [`conflict with "${'x'.repeat(1_000_000)}`],
])('a long refusal takes no time (%#)', (message) => {
  const field = message.slice(0, 10_000);
  const cause = { field, message: field, reason: 'FieldManagerConflict' };
  const error = refuse(500, { message, details: { causes: Array.from({ length: 100 }, () => cause) } });
  const used = process.threadCpuUsage();
  withoutSecretValues(error, secrets, { path, body });
  expect(process.threadCpuUsage(used).user / 1_000).toBeLessThan(2_000);
});

test('a watch tells no value of a Secret that is quoted in an error event, a refusal or a list', async () => {
  await using server = await startScriptedServer();
  await using client = createTestWatchClient({ kubeconfigContents: server.getKubeconfig() });
  const resource = { ...configMaps, kind: 'Secret', plural: 'secrets' };
  const quoting = { kind: 'Status', message: `cannot decode ${planted}`, reason: 'InternalError' };
  const event = `${JSON.stringify({ type: 'ERROR', object: quoting })}\n`;
  for (const answer of [answerStream(event), answerJson(400, quoting)]) {
    server.script(answer);
    const end = await client.watch({
      resource,
      resourceVersion: '1',
      timeoutSeconds: 1,
      onChanges: () => {},
    });
    expect(end.ended).toBe('broken');
    expect(end.error?.message).toContain(rest);
  }
  await expect(client.listFrom({ resource }).next()).rejects.toThrow(
    `Secret was refused (HTTP 400, InternalError): ${rest}`,
  );
});
