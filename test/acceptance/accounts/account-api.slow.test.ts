import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { asJsonArray, asJsonObject, type JsonObject } from '#core/json.ts';
import { shutOut } from '#settings/account-storage.ts';
import { disposeAfterAll } from '#test/support/run/disposal.ts';
import { makeTempDir } from '#test/support/run/temp-dir.ts';
import { type Fiat, startFiat } from '#test/support/services/fiat.ts';
import { type System, startSystem } from '#test/support/system/system.ts';

const all = ['READ', 'WRITE', 'EXECUTE'] as const;
const planted = 'planted-token-5d1e';

let system: System;
let config: string;

interface Answered {
  readonly status: number;
  readonly body?: unknown;
  readonly error?: unknown;
  readonly tag?: string;
}

/** What is answered: a status, the entity tag, and the body, or the message of an error. */
async function send(
  method: string,
  target: string,
  ...[body, headers = {}]: readonly [body?: JsonObject | undefined, headers?: Record<string, string>]
): Promise<Answered> {
  const response = await system.fetch(target, {
    method,
    headers,
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  const parsed = text === '' ? '' : JSON.parse(text);
  const error = parsed.errors ?? parsed.message;
  const tag = response.headers.get('etag');
  if (response.status !== 200) return { status: response.status, error };
  return { status: 200, body: parsed, ...(tag?.startsWith('W/') !== true && tag && { tag }) };
}

function toNames({ body }: Answered): readonly unknown[] {
  return asJsonArray(body).map((account) => asJsonObject(account)?.['name']);
}

async function listNames(): Promise<readonly unknown[]> {
  return toNames(await send('GET', '/credentials'));
}

function define(name: string, more: JsonObject = {}): JsonObject {
  return { type: 'kubernetes', name, kubeconfigSecret: `clusters/${name}`, ...more };
}

describe("Clouddriver's account API on one machine", () => {
  const stack = new AsyncDisposableStack();
  beforeAll(async () => {
    config = path.join(stack.use(await makeTempDir()).path, 'clouddriver.yml');
    const accounts = [
      { name: 'yaml', kubeconfigSecret: 'clusters/yaml', permissions: { READ: ['a'], WRITE: ['a'] } },
    ];
    const busdriver = { accounts: { allowPlainSecrets: false } };
    await writeFile(config, JSON.stringify({ busdriver, kubernetes: { accounts } }));
    system = stack.use(await startSystem({ config: [config] }));
  });
  afterAll(() => stack.disposeAsync());

  it('creates, lists, replaces and deletes an account, which the process that did it has at once', async () => {
    const body = define('one', { permissions: { READ: ['x'], WRITE: ['x'] } });
    const answered = { ...body, warnings: [shutOut] };
    expect(await send('POST', '/credentials', body)).toEqual({ status: 200, body: answered, tag: '"1"' });
    expect(await listNames()).toEqual(['one', 'yaml']);
    const refused = 'Cannot create an account which already exists (name: one)';
    expect(await send('POST', '/credentials', body)).toEqual({ status: 400, error: refused });

    const open = define('one', { environment: 'test' });
    const x = { 'X-SPINNAKER-ACCOUNTS': 'one' };
    expect(await send('PUT', '/credentials/one', open, x)).toEqual({ status: 200, body: open, tag: '"2"' });
    expect(await send('GET', '/credentials/one')).toMatchObject({ body: { environment: 'test' } });
    expect(await send('GET', '/credentials/type/kubernetes')).toEqual({ status: 200, body: [open] });

    expect(await send('DELETE', '/credentials/one')).toEqual({ status: 200, body: '' });
    expect(await listNames()).toEqual(['yaml']);
    expect(await send('GET', '/credentials/one/history')).toEqual({
      status: 200,
      body: [
        { version: 3, timestamp: expect.any(Number) },
        { version: 2, timestamp: expect.any(Number), account: open },
        { version: 1, timestamp: expect.any(Number), account: body },
      ],
    });
    const told = (await system.readEvents())
      .filter((event) => event['detail-type'] === 'AccountDefinitionChanged')
      .map(({ detail }) => [detail['name'], detail['revision'], detail['change']]);
    expect(told).toEqual([
      ['one', 1, 'created'],
      ['one', 2, 'updated'],
      ['one', 3, 'deleted'],
    ]);
  });

  it.each([
    [
      'PUT',
      '/credentials/a',
      define('b'),
      400,
      'Mismatched account names. URI value: a. Request body value: b.',
    ],
    [
      'PUT',
      '/credentials/none',
      define('none'),
      400,
      'Cannot update an account which does not exist (name: none)',
    ],
    ['DELETE', '/credentials/none', undefined, 404, 'No account found with name none'],
    ['GET', '/credentials/none/history', undefined, 404, 'No account found with name none'],
    [
      'POST',
      '/credentials',
      define('yaml'),
      400,
      'Cannot create an account which already exists (name: yaml)',
    ],
    [
      'POST',
      '/credentials',
      define('YAML'),
      400,
      'Cannot create an account which already exists (name: YAML)',
    ],
    ['PUT', '/credentials', define('yaml'), 403, 'Unauthorized to overwrite existing account (name: yaml)'],
    [
      'DELETE',
      '/credentials/yaml',
      undefined,
      403,
      'Access denied to account yaml - required authorization: WRITE',
    ],
    [
      'POST',
      '/credentials',
      { type: 'aws', name: 'a' },
      400,
      ['type: expected one of kubernetes, dockerRegistry'],
    ],
    [
      'POST',
      '/credentials',
      define('a/b'),
      400,
      ['name: expected 1 to 253 letters, digits and characters of ._-'],
    ],
    [
      'POST',
      '/credentials',
      define('a'.repeat(254)),
      400,
      [expect.stringMatching(/^name: expected 1 to 253/)],
    ],
    [
      'POST',
      '/credentials',
      define('bad', { namespaces: ['a/b'], namingStrategy: 'other' }),
      400,
      [
        expect.stringMatching(/^namespaces\[0\]: expected/),
        expect.stringMatching(/^namingStrategy: expected/),
      ],
    ],
    [
      'POST',
      '/credentials',
      { type: 'kubernetes', name: 'secret', kubeconfigContents: `users: [{user: {token: ${planted}}}]` },
      400,
      ['kubeconfigContents: holds a secret: store it in Secrets Manager and give a reference'],
    ],
    [
      'POST',
      '/credentials',
      define('large', { environment: 'x'.repeat(256 * 1024) }),
      413,
      expect.stringMatching(/^The definition of an account has \d+ bytes: at most 262144 are accepted$/),
    ],
    [
      'GET',
      '/credentials/type/kubernetes?limit=0',
      undefined,
      400,
      ['limit: expected a whole number from 1 to 1000'],
    ],
  ])('refuses %s %s of %o: %i', async (...[method, target, body, status, error]) => {
    expect(await send(method, target, body)).toEqual({ status, error });
  });

  it.each(['yaml', 'stored'])('by PUT the name of %s is taken in any case, as by POST', async (name) => {
    await send('POST', '/credentials', define('stored'));
    const error = `Cannot create an account which already exists (name: ${name})`;
    const headers = { 'X-SPINNAKER-ACCOUNTS': name };
    const answer = await send('PUT', '/credentials', define(name.toUpperCase()), headers);
    expect(answer).toEqual({ status: 400, error });
    expect(await listNames()).toEqual(['stored', 'yaml']);
    await send('DELETE', '/credentials/stored');
  });

  it('does not replace an account that only the settings have, and names where it stands', async () => {
    const headers = { 'X-SPINNAKER-ACCOUNTS': 'yaml' };
    expect(await send('PUT', '/credentials/yaml', define('yaml'), headers)).toEqual({
      status: 404,
      error: 'No account found with name yaml',
    });
    expect(await send('GET', '/credentials/yaml/history', undefined, headers)).toEqual({
      status: 404,
      error: `No account found with name yaml: it stands in ${config}, whose changes are not recorded here`,
    });
    expect(await send('DELETE', '/credentials/yaml', undefined, headers)).toEqual({
      status: 400,
      error: `The account yaml stands in ${config}: remove it there`,
    });
  });

  it('changes an account only as the caller saw it', async () => {
    const body = define('tagged');
    await send('POST', '/credentials', body);
    await send('PUT', '/credentials', body);

    for (const method of ['PUT', 'DELETE']) {
      const refused = await send(method, '/credentials/tagged', body, { 'If-Match': '"1"' });
      expect(refused).toEqual({ status: 412, error: 'The account tagged has revision 2' });
    }
    const changed = await send('PUT', '/credentials/tagged', body, { 'If-Match': '"2"' });
    expect(changed).toMatchObject({ status: 200, tag: '"3"' });
    expect(await send('DELETE', '/credentials/tagged', undefined, { 'If-Match': '*' })).toMatchObject({
      status: 200,
    });
    const long = await send('PUT', '/credentials', body, { 'If-Match': 'x'.repeat(1_001) });
    expect(long).toEqual({ status: 400, error: ['If-Match: expected at most 1000 characters, got 1001'] });
    const absent = await send('PUT', '/credentials', body, { 'If-Match': '*' });
    expect(absent).toEqual({ status: 412, error: 'The account tagged does not exist' });
  });

  it('lists by pages', async () => {
    for (const name of ['page-a', 'page-b', 'page-c']) await send('POST', '/credentials', define(name));
    const page = await send('GET', '/credentials/type/kubernetes?limit=2&startingAccountName=page-b');

    expect(toNames(page)).toEqual(['page-b', 'page-c']);
    for (const name of ['page-a', 'page-b', 'page-c']) await send('DELETE', `/credentials/${name}`);
  });

  it('has caching agents of a new account within seconds, and none of one that was deleted', async () => {
    const listAgents = async () => (await system.fetch('/cache/introspection')).text();
    await send('POST', '/credentials', define('soon'));
    await expect.poll(listAgents).toContain('"account":"soon"');

    await send('DELETE', '/credentials/soon');
    await expect.poll(listAgents).not.toContain('"account":"soon"');
  });

  it('lets an operation name an account that another process has just made', async () => {
    await send('POST', '/credentials', define('fresh'));
    const operation = { deleteManifest: { account: 'fresh', location: 'web', manifestName: 'configMap a' } };
    const answer = await send('POST', '/kubernetes/ops', [operation] as unknown as JsonObject);
    expect(answer).toMatchObject({ status: 200 });
    await send('DELETE', '/credentials/fresh');
  });
});

describe('where secrets are allowed, as from this machine', () => {
  it('a definition holds one, which is never shown, and stays when its mask is sent back', async () => {
    await using own = await startSystem({
      settings: { busdriver: { accounts: { writableWithoutFiat: true } } },
    });
    system = own;
    const server = { host: 'http://127.0.0.1:1', bearerToken: planted };
    const masked = { ...server, bearerToken: '******' };
    const body = { type: 'kubernetes', name: 'plain', server };

    const forwarded = await send('POST', '/credentials', body, { 'X-Forwarded-For': '10.1.2.3' });
    expect(JSON.stringify(forwarded)).toContain('server.bearerToken: holds a secret');
    expect(await send('POST', '/credentials', body)).toMatchObject({ body: { server: masked } });
    const moved = { ...body, server: { ...masked, host: 'http://127.0.0.1:2' } };
    expect(await send('PUT', '/credentials/plain', moved)).toEqual({
      status: 400,
      error: [
        'server.bearerToken: expected the value, for server.host is another: a mask keeps a secret where it was sent to',
      ],
    });
    const changed = { ...body, namespaces: ['web'], server: masked };
    expect(await send('PUT', '/credentials/plain', changed)).toMatchObject({ status: 200, body: changed });
    const answers = [
      await send('GET', '/credentials/type/kubernetes'),
      await send('GET', '/credentials/plain/history'),
      await send('GET', '/credentials?expand=true'),
    ];
    const places = [JSON.stringify(answers), await own.readLog(), JSON.stringify(await own.readEvents())];
    expect(places.map((text) => text.includes(planted))).toEqual([false, false, false]);
    const refused = await send('POST', '/credentials', { ...changed, name: 'other' });
    expect(refused).toEqual({
      status: 400,
      error: ['server.bearerToken: expected a value, got the mask of one that is not stored'],
    });
  });

  it('is not where storage is off: each route says so as Clouddriver does', async () => {
    await using own = await startSystem({ settings: { account: { storage: { enabled: false } } } });
    system = own;
    const error =
      'Cannot use AccountDefinitionService endpoints without enabling AccountDefinitionService bean';

    expect(await send('POST', '/credentials', define('a'))).toEqual({ status: 400, error });
    expect(await send('DELETE', '/credentials/a')).toEqual({ status: 400, error });
    expect(await send('GET', '/credentials/type/kubernetes')).toEqual({ status: 400, error });
  });
});

describe('with Fiat', () => {
  let fiat: Fiat;
  beforeAll(async () => {
    fiat = await startFiat({
      users: {
        admin: { admin: true },
        manager: { accountManager: true, roles: ['ops'], accounts: { mine: all, theirs: ['READ'] } },
        writer: { roles: ['ops'], accounts: { mine: all } },
      },
    });
    const busdriver = { accounts: { tokenBrokerHosts: ['example.com'] } };
    const services = { fiat: { enabled: true, baseUrl: fiat.url } };
    system = await startSystem({ settings: { services, busdriver } });
  });
  disposeAfterAll(() => [system, fiat]);

  /** Without a secret, which would be for administrators. */
  const define = (name: string, more: JsonObject = {}): JsonObject => ({
    type: 'kubernetes',
    name,
    server: { host: 'https://example.com' },
    ...more,
  });
  const as = (user: string) => ({ 'X-SPINNAKER-USER': user });
  const ops = { permissions: { READ: ['ops'], WRITE: ['OPS'] } };
  const others = { permissions: { READ: ['dev'], WRITE: ['dev'] } };

  it('managers of accounts make them for groups of their own, administrators for any', async () => {
    expect(await send('POST', '/credentials', define('mine', ops), as('writer'))).toMatchObject({
      status: 403,
    });
    expect(await send('POST', '/credentials', define('theirs', others), as('manager'))).toEqual({
      status: 400,
      error: 'Cannot create account without granting permissions for current user (name: theirs)',
    });
    expect(await send('POST', '/credentials', define('mine', ops), as('manager'))).toMatchObject({
      status: 200,
    });
    expect(await send('POST', '/credentials', define('theirs', others), as('admin'))).toMatchObject({
      status: 200,
    });
    for (const [method, verb, target] of [
      ['PUT', 'save', '/credentials'],
      ['PUT', 'update', '/credentials/mine'],
    ] as const) {
      expect(await send(method, target, define('mine', others), as('manager'))).toEqual({
        status: 400,
        error: `Cannot ${verb} account without granting permissions for current user (name: mine)`,
      });
    }
  });

  it('who changes, deletes or looks into one needs WRITE of it', async () => {
    const denied = 'Access denied to account theirs - required authorization: WRITE';
    for (const [method, target] of [
      ['PUT', '/credentials/theirs'],
      ['DELETE', '/credentials/theirs'],
      ['GET', '/credentials/theirs/history'],
    ] as const) {
      const body = method === 'PUT' ? define('theirs') : undefined;
      expect(await send(method, target, body, as('manager'))).toEqual({ status: 403, error: denied });
    }
    expect(await send('PUT', '/credentials', define('theirs'), as('manager'))).toEqual({
      status: 403,
      error: 'Unauthorized to overwrite existing account (name: theirs)',
    });
    const listed = await send('GET', '/credentials/type/kubernetes', undefined, as('manager'));
    expect(toNames(listed)).toEqual(['mine']);
    expect(await send('DELETE', '/credentials/theirs', undefined, as('admin'))).toMatchObject({
      status: 200,
    });
    expect(await send('DELETE', '/credentials/mine', undefined, as('manager'))).toMatchObject({
      status: 200,
    });
  });

  it('nobody changes anything while it is away', async () => {
    await fiat.setMode('down');
    expect(await send('POST', '/credentials', define('closed'), as('unheard'))).toMatchObject({
      status: 503,
    });
    await fiat.setMode('up');
  });
});
