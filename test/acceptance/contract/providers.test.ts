import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { asJsonArray, asJsonObject, type JsonObject } from '#core/json.ts';
import { disposeAfterAll } from '#test/support/run/disposal.ts';
import { type Fiat, startFiat } from '#test/support/services/fiat.ts';
import { startTokenBroker, type TestBroker } from '#test/support/services/token-broker.ts';
import { type System, startSystem } from '#test/support/system/system.ts';

const run = promisify(execFile);
const target = '/v1/kubernetes/providers';
const apiKey = 'planted-arcade-key-09aa';

let broker: TestBroker;
let system: System;

async function start(settings: JsonObject = {}): Promise<System> {
  const accounts = [{ name: 'yaml', kubeconfigSecret: 'clusters/yaml' }];
  const { busdriver = {}, ...others } = settings;
  // A busy machine answers late.
  const tokenBrokers = { arcade: { timeoutMs: 60_000 } };
  const own = { accounts: { allowPlainSecrets: false }, ...asJsonObject(busdriver), tokenBrokers };
  const env = { ARCADE_URL: broker.url, ARCADE_API_KEY: apiKey };
  return startSystem({ settings: { kubernetes: { accounts }, ...others, busdriver: own }, env });
}

type Answered = readonly [status: number, body: unknown];

async function send(method: string, where: string, body?: JsonObject | string): Promise<Answered> {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  // Without Fiat, Gate says who may write to an account that is restricted to groups.
  const headers = { 'X-SPINNAKER-ACCOUNTS': 'one, contended, yaml' };
  const response = await system.fetch(where, { method, headers, ...(body !== undefined && { body: text }) });
  const answer = await response.text();
  return [response.status, answer === '' ? '' : JSON.parse(answer)];
}

/** Runs a command of go-clouddriver's page in a shell, against the system under test in the place of port 7002. */
/** A busy machine may answer 503 before it begins: it is asked again. */
async function sh(
  command: string,
  triesMax = 5,
): Promise<{ readonly status: number; readonly body: unknown }> {
  const { host } = new URL(system.url);
  const written = `${command.replace('localhost:7002', host)} -s -w '\\n%{http_code}'`;
  const { stdout } = await run('sh', ['-c', written]);
  const [, body = '', status] = /^([\s\S]*)\n(\d+)$/.exec(stdout) ?? [];
  if (status === '503' && triesMax > 1) return sh(command, triesMax - 1);
  return { status: Number(status), body: JSON.parse(body) };
}

const provider = {
  name: 'one',
  host: 'https://test-host',
  caData: 'test',
  permissions: { read: ['Test-Group', 'others'], write: ['test-group'] },
};

beforeAll(async () => {
  broker = await startTokenBroker(() => 'planted-token-c31f');
  broker.apiKey = apiKey;
  system = await start();
});
disposeAfterAll(() => [system, broker]);

it("go-clouddriver's own example runs as its page has it", async () => {
  const create = `curl -XPOST localhost:7002/v1/kubernetes/providers -d '{
  "name": "test-provider",
  "host": "https://test-host",
  "caData": "test",
  "permissions": {
    "read": [
      "test-group"
    ],
    "write": [
      "test-group"
    ]
  }
}'`;
  const shown = {
    name: 'test-provider',
    host: 'https://test-host',
    caData: 'test',
    permissions: { read: ['test-group'], write: ['test-group'] },
  };
  expect(await sh(create)).toEqual({ status: 201, body: shown });
  expect(await sh(create)).toEqual({ status: 409, body: { error: 'provider already exists' } });

  const { body } = await sh('curl localhost:7002/credentials');
  expect(asJsonArray(body).find((account) => asJsonObject(account)?.['name'] === 'test-provider')).toEqual({
    name: 'test-provider',
    type: 'kubernetes',
    cloudProvider: 'kubernetes',
    environment: 'test-provider',
    accountType: 'test-provider',
    requiredGroupMembership: [],
    permissions: { READ: ['test-group'], WRITE: ['test-group'] },
    challengeDestructiveActions: false,
    primaryAccount: false,
  });
  const places = [await system.readLog(), JSON.stringify(await system.readEvents())];
  expect(places.filter((text) => /planted-/.test(text))).toEqual([]);
});

it('of two hundred that create one name at once, one does', async () => {
  const body = { ...provider, name: 'contended' };
  // A busy machine may answer 503, of which nobody knows what became.
  const first = await Promise.all(Array.from({ length: 200 }, () => send('POST', target, body)));
  const isUnsure = first.some(([status]) => status === 503);
  const created = first.filter(([status]) => status === 201);

  expect(first.filter(([status]) => ![201, 409, 503].includes(status)).slice(0, 3)).toEqual([]);
  expect(created.length).toBeLessThanOrEqual(1);
  if (!isUnsure) expect(created).toHaveLength(1);
  await expect.poll(async () => (await send('POST', target, body))[0]).toBe(409);
  const [, history] = await send('GET', '/credentials/contended/history');
  expect(history).toHaveLength(1);
});

describe('a provider', () => {
  beforeEach(async () => {
    await send('DELETE', `/credentials/one`);
  });

  it('is listed, read, replaced and deleted, and is one account in both APIs', async () => {
    const open = {
      name: 'one',
      host: 'https://other-host/gateway',
      tokenProvider: 'google',
      namespaces: ['web'],
    };
    expect(await send('POST', target, provider)).toEqual([201, provider]);
    expect(await send('GET', `${target}/one`)).toEqual([200, provider]);
    const [, listed] = await send('GET', target);
    expect(listed).toContainEqual(provider);
    expect(listed).not.toContainEqual(expect.objectContaining({ name: 'yaml' }));

    expect(await send('PUT', target, open)).toEqual([200, open]);
    const [, definitions] = await send('GET', '/credentials/type/kubernetes');
    expect(definitions).toContainEqual({
      type: 'kubernetes',
      name: 'one',
      server: { host: 'https://other-host/gateway', tokenProvider: 'google' },
      namespaces: ['web'],
      clusterScopedKinds: false,
    });

    expect(await send('DELETE', `${target}/one`)).toEqual([204, '']);
    expect(await send('DELETE', `${target}/one`)).toEqual([404, { error: 'provider not found' }]);
    expect(await send('GET', `${target}/one`)).toEqual([404, { error: 'provider not found' }]);
    const [, credentials] = await send('GET', '/credentials');
    expect(JSON.stringify(credentials)).not.toContain('"one"');
  });

  it.each([
    ['blank', { namespace: '  ' }, undefined],
    ['one', { namespace: 'web' }, ['web']],
    ['several', { namespaces: ['a', 'b'] }, ['a', 'b']],
  ])('shows a namespace that is %s as the list that it is', async (_, more, namespaces) => {
    const body = { name: 'one', host: 'https://test-host' };
    const shown = { ...body, ...(namespaces && { namespaces }) };
    expect(await send('POST', target, { ...body, permissions: {}, ...more })).toEqual([201, shown]);
  });

  it('that may use one namespace is refused kinds that live in none, in the words of the original', async () => {
    await send('POST', target, { name: 'one', host: 'https://127.0.0.1:1', namespaces: ['web'] });
    const operation = { deleteManifest: { account: 'one', manifestName: 'clusterRole a', location: '' } };
    const refused = await system.fetch('/kubernetes/ops', {
      method: 'POST',
      body: JSON.stringify([operation]),
    });

    expect([refused.status, await refused.json()]).toMatchObject([
      400,
      { errors: ["namespace-scoped account not allowed to access cluster-scoped kind: 'clusterRole'"] },
    ]);
  });

  it.each([
    ['{', 'The body is not valid JSON (at position 1)'],
    ['[]', 'The body must be an object, the provider'],
    [{ ...provider, name: 'a/b' }, 'name: expected 1 to 253 letters, digits and characters of ._-'],
    [{ ...provider, host: 1 }, 'host: expected a text'],
    [{ ...provider, permissions: { read: 'a' } }, 'permissions.read: expected a list of texts'],
    [
      { ...provider, caData: 'test-ca-data' },
      'error decoding base64 CA data: illegal base64 data at input byte 4',
    ],
    [{ ...provider, caData: 'dGVzdA' }, 'error decoding base64 CA data: illegal base64 data at input byte 4'],
    [
      { ...provider, caData: 'dGVzdA=' },
      'error decoding base64 CA data: illegal base64 data at input byte 7',
    ],
    [
      { ...provider, tokenProvider: 'unheard' },
      'error getting token: token broker "arcade" answers 400: check that it knows the account\'s tokenProvider',
    ],
    [
      { ...provider, permissions: { read: ['a'], write: ['A', 'b'] } },
      "error in permissions: write group 'b' must be included as a read group",
    ],
    [
      { ...provider, namespace: 'a', namespaces: ['b'] },
      'Cannot provide both namespace and namespaces field',
    ],
    // Each check comes before those behind it.
    [
      { ...provider, caData: '-', tokenProvider: 'unheard' },
      'error decoding base64 CA data: illegal base64 data at input byte 0',
    ],
    [
      { ...provider, tokenProvider: 'unknown', permissions: { write: ['b'] } },
      'error getting token: token broker "arcade" answers 400: check that it knows the account\'s tokenProvider',
    ],
    [
      { ...provider, permissions: { write: ['b'] }, namespace: 'a', namespaces: ['b'] },
      "error in permissions: write group 'b' must be included as a read group",
    ],
    [
      { ...provider, host: 'test-host' },
      'server.host: expected an http or https URL without user, query and fragment',
    ],
    [
      { ...provider, bearerToken: 'planted-plain' },
      'server.bearerToken: holds a secret: store it in Secrets Manager and give a reference',
    ],
  ])('is refused: %o', async (body, error) => {
    for (const method of ['POST', 'PUT']) expect(await send(method, target, body)).toEqual([400, { error }]);
    expect(await send('GET', `${target}/one`)).toEqual([404, { error: 'provider not found' }]);
  });

  it('that is there is told before anything else is looked at, whoever made it', async () => {
    for (const name of ['yaml', 'YAML']) {
      expect(await send('POST', target, { ...provider, name, caData: '-' })).toEqual([
        409,
        { error: 'provider already exists' },
      ]);
    }
    expect(await send('DELETE', `${target}/yaml`)).toEqual([404, { error: 'provider not found' }]);
  });

  it.each(['YAML', 'ONE'])('is not made beside one of the same name in another case: %s', async (name) => {
    await send('POST', target, provider);
    expect(await send('PUT', target, { ...provider, name })).toEqual([
      400,
      { error: `Cannot create an account which already exists (name: ${name.toLowerCase()})` },
    ]);
  });

  it('is refused while the broker is away', async () => {
    broker.mode = '500';
    try {
      // Another provider than those of whom a token is known.
      broker.providers.set('fresh', () => 'token');
      expect(await send('POST', target, { ...provider, tokenProvider: 'fresh' })).toEqual([
        400,
        { error: 'error getting token: token broker "arcade" answers 500' },
      ]);
    } finally {
      broker.mode = 'up';
    }
  });
});

describe('with Fiat', () => {
  let fiat: Fiat;
  let before: System;
  beforeAll(async () => {
    fiat = await startFiat({
      users: {
        manager: { accountManager: true, roles: ['ops'], accounts: { mine: ['READ', 'WRITE'] } },
        other: { accountManager: true, roles: ['dev'] },
        writer: { roles: ['ops'], accounts: { mine: ['READ', 'WRITE'] } },
      },
    });
    before = system;
    const services = { fiat: { enabled: true, baseUrl: fiat.url } };
    system = await start({
      services,
      busdriver: { accounts: { allowPlainSecrets: true, tokenBrokerHosts: ['*'] } },
    });
  });
  afterAll(async () => {
    await system?.[Symbol.asyncDispose]();
    await fiat?.[Symbol.asyncDispose]();
    system = before;
  });

  async function sendAs(user: string, method: string, ...[where, body]: readonly [string, JsonObject?]) {
    const headers = { 'X-SPINNAKER-USER': user };
    const response = await system.fetch(where, {
      method,
      headers,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return [response.status, text === '' ? '' : JSON.parse(text)];
  }

  it('managers of accounts make them for groups of their own, and see those that they may change', async () => {
    const mine = { name: 'mine', host: 'https://h', permissions: { read: ['ops'], write: ['ops'] } };
    const refused = { error: 'Access denied: only managers of accounts and administrators may do this' };
    for (const [method, where] of [
      ['POST', target],
      ['PUT', target],
      ['GET', target],
      ['GET', `${target}/mine`],
      ['DELETE', `${target}/mine`],
    ] as const) {
      const body = method === 'POST' || method === 'PUT' ? mine : undefined;
      expect(await sendAs('writer', method, where, body)).toEqual([403, refused]);
    }
    expect(await sendAs('other', 'POST', target, mine)).toEqual([
      400,
      { error: 'Cannot create account without granting permissions for current user (name: mine)' },
    ]);
    expect(await sendAs('manager', 'POST', target, mine)).toEqual([201, mine]);
    expect(await sendAs('manager', 'GET', target)).toEqual([200, [mine]]);
    expect(await sendAs('other', 'GET', target)).toEqual([200, []]);
    const denied = { error: 'Access denied to account mine - required authorization: WRITE' };
    expect(await sendAs('other', 'GET', `${target}/mine`)).toEqual([403, denied]);
    expect(await sendAs('other', 'DELETE', `${target}/mine`)).toEqual([403, denied]);
    expect(await sendAs('other', 'PUT', target, mine)).toEqual([
      403,
      { error: 'Unauthorized to overwrite existing account (name: mine)' },
    ]);
  });

  it('nothing is asked for an account that the caller may not make, or not replace', async () => {
    const calls = broker.calls.length;
    const body = { name: 'asked', host: 'https://h', tokenProvider: 'unheard' };
    const ops = { ...body, permissions: { read: ['ops'], write: ['ops'] } };
    const refuse = (verb: string) => [
      400,
      { error: `Cannot ${verb} account without granting permissions for current user (name: asked)` },
    ];
    expect(await sendAs('other', 'POST', target, ops)).toEqual(refuse('create'));
    expect(await sendAs('other', 'PUT', target, ops)).toEqual(refuse('save'));
    const secret = {
      name: 'asked',
      host: 'https://h',
      bearerToken: 'encrypted:secrets-manager!r:eu-west-1!s:planted',
    };
    const words = expect.stringContaining(
      'with the secret in server.bearerToken, which says nothing of who may use it',
    );
    expect(await sendAs('other', 'POST', target, secret)).toEqual([403, { error: words }]);
    expect(await sendAs('other', 'PUT', target, secret)).toEqual([403, { error: words }]);

    const others = { name: 'others', host: 'https://h', permissions: { read: ['ops'], write: ['ops'] } };
    expect(await sendAs('manager', 'POST', target, others)).toEqual([201, others]);
    expect(await sendAs('other', 'PUT', target, { ...others, tokenProvider: 'unheard' })).toEqual([
      403,
      { error: 'Unauthorized to overwrite existing account (name: others)' },
    ]);
    expect(broker.calls.length, 'the broker was asked for none of them').toBe(calls);
    expect(await sendAs('manager', 'POST', target, ops)).toEqual([
      400,
      { error: expect.stringMatching(/^error getting token: /) },
    ]);
  });

  it('a token of its own is not shown, and no broker is asked', async () => {
    const calls = broker.calls.length;
    const plain = { name: 'plain', host: 'https://h', bearerToken: 'planted-plain-7' };
    const shown = { ...plain, bearerToken: '******' };

    expect(await sendAs('manager', 'POST', target, plain)).toEqual([201, shown]);
    expect(broker.calls.length).toBe(calls);
    expect(await system.readLog()).not.toContain('planted-plain-7');
  });
});
