import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { asJsonArray, asJsonObject, type JsonObject } from '#core/json.ts';
import { type AwsEndpoints, startAwsEndpoints } from '#test/support/engines/aws-endpoints.ts';
import { type Fiat, startFiat } from '#test/support/services/fiat.ts';
import { type System, startSystem } from '#test/support/system/system.ts';

const planted = 'planted-inline-77c1';
const roles = 'spinnaker:roles';
const userSecret = (name: string) => `secret://secrets-manager?r=eu-west-1&s=${name}&k=token`;

const stack = new AsyncDisposableStack();
let aws: AwsEndpoints;
let fiat: Fiat;
let system: System;

async function start(accounts: JsonObject = {}): Promise<System> {
  const services = { fiat: { enabled: true, baseUrl: fiat.url } };
  return startSystem({ settings: { services, busdriver: { accounts } } });
}

/** The status of an answer, and its body or the message of its error. */
async function send(user: string, ...[method, target, body]: readonly [string, string, JsonObject?]) {
  const response = await system.fetch(target, {
    method,
    headers: { 'X-SPINNAKER-USER': user },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const parsed = JSON.parse(await response.text());
  return [response.status, parsed.errors ?? parsed.message ?? parsed] as const;
}

function define(name: string, server: JsonObject, more: JsonObject = {}): JsonObject {
  const permissions = { READ: ['ops'], WRITE: ['ops'] };
  return {
    type: 'kubernetes',
    name,
    server: { host: 'https://example.com', ...server },
    permissions,
    ...more,
  };
}

beforeAll(async () => {
  aws = stack.use(await startAwsEndpoints());
  const all = ['READ', 'WRITE'] as const;
  const accounts = { a: all, b: all, c: all, d: all, e: all };
  const manager = { accountManager: true, roles: ['ops'], accounts };
  fiat = stack.use(await startFiat({ users: { admin: { admin: true }, manager } }));
  system = stack.use(await start());
});
afterAll(() => stack.disposeAsync());

describe('a user secret in a definition', () => {
  it('needs one of its roles, whatever else the manager may do; administrators need none', async () => {
    aws.tags.set('ours', { [roles]: 'sre, OPS' }).set('theirs', { [roles]: 'dev' });
    const theirs = define('a', { bearerToken: userSecret('theirs') });
    const refusal = (verb: string) => [
      403,
      `Unauthorized to ${verb} account with user secret ${userSecret('theirs')}`,
    ];

    expect(await send('manager', 'POST', '/credentials', theirs)).toEqual(refusal('create'));
    expect(await send('manager', 'PUT', '/credentials', theirs)).toEqual(refusal('save'));
    const none = define('a', { bearerToken: userSecret('untagged') });
    expect((await send('manager', 'POST', '/credentials', none))[0]).toBe(403);
    const ours = define('a', { bearerToken: userSecret('ours') });
    expect(await send('manager', 'POST', '/credentials', ours)).toEqual([200, ours]);
    expect(await send('manager', 'PUT', '/credentials/a', theirs)).toEqual(refusal('update'));
    const both = define('a', { bearerToken: userSecret('ours'), caData: userSecret('theirs') });
    expect(await send('manager', 'PUT', '/credentials/a', both)).toEqual(refusal('update'));
    expect(await send('admin', 'PUT', '/credentials/a', theirs)).toEqual([200, theirs]);
  });

  it('that cannot be read lets nobody but an administrator have the account', async () => {
    const message = 'not today';
    aws.tags.set('away', { status: 400, code: 'AccessDeniedException', message });
    const away = define('away', { bearerToken: userSecret('away') });
    const [status, error] = await send('manager', 'POST', '/credentials', away);

    expect(status).toBe(400);
    expect(error).toMatch(/^server\.bearerToken: cannot read the tags of the secret away in eu-west-1/);
  });

  it('hides the definition from who has none of its roles', async () => {
    aws.tags.set('b-secret', { [roles]: 'dev' }).set('c-secret', { [roles]: 'ops' });
    await send('admin', 'PUT', '/credentials', define('b', { bearerToken: userSecret('b-secret') }));
    await send('admin', 'PUT', '/credentials', define('c', { bearerToken: userSecret('c-secret') }));
    const list = async (user: string) => {
      const [, body] = await send(user, 'GET', '/credentials/type/kubernetes?startingAccountName=b');
      return asJsonArray(body).map((account) => asJsonObject(account)?.['name']);
    };

    expect(await list('manager')).toEqual(['c']);
    expect(await list('admin')).toEqual(['b', 'c']);
    aws.tags.set('b-secret', { [roles]: 'dev,ops' });
    expect(await list('manager')).toEqual(['b', 'c']);
  });
});

describe('a secret that says nothing of who may use it', () => {
  it.each([
    ['server.bearerToken', { server: { host: 'https://x', bearerToken: 'encrypted:ssm!r:eu-west-1!n:/t' } }],
    ['server.caData', { server: { host: 'https://x', caData: 'encryptedFile:s3!r:eu-west-1!b:b!f:f' } }],
    ['kubeconfigSecret', { server: null, kubeconfigSecret: 'clusters/prod' }],
  ])('in %s is for administrators', async (option, more) => {
    const body = define(`roleless-${option}`, {}, more);
    const [status, error] = await send('manager', 'POST', '/credentials', body);

    expect([status, error]).toEqual([
      403,
      expect.stringMatching(
        `^Unauthorized to create account with the secret in ${option}, which says nothing`,
      ),
    ]);
    expect(await send('admin', 'PUT', '/credentials', body)).toEqual([200, body]);
  });
});

describe('the token of a broker', () => {
  it('goes to the host of a definition where an administrator made it, or the settings name the host', async () => {
    const body = define('d', {});
    const [status, error] = await send('manager', 'POST', '/credentials', body);

    expect([status, error]).toEqual([
      403,
      expect.stringMatching(/host in server\.host: .* busdriver\.accounts\.tokenBrokerHosts$/),
    ]);
    expect(await send('admin', 'PUT', '/credentials', body)).toEqual([200, body]);
    expect((await send('manager', 'PUT', '/credentials/d', body))[0]).toBe(403);
    await using own = await start({ tokenBrokerHosts: ['*.Example.com', 'example.com'] });
    const before = system;
    system = own;
    try {
      expect(await send('manager', 'POST', '/credentials', body)).toEqual([200, body]);
      const elsewhere = define('e', { host: 'https://example.com.evil.test' });
      for (const user of ['manager', 'admin'])
        expect(await send(user, 'POST', '/credentials', elsewhere)).toEqual([
          400,
          [
            'server.host: expected a host that is named for tokens of a broker by busdriver.accounts.tokenBrokerHosts',
          ],
        ]);
    } finally {
      system = before;
    }
  });
});

describe('a secret in the form of a reference', () => {
  it.each([
    ['server.bearerToken', { host: 'https://x', bearerToken: `encrypted:noop!v:${planted}` }],
    ['server.caData', { host: 'https://x', caData: ` EncryptedFile:NOOP !v:${planted}` }],
  ])('in %s is refused as any other', async (option, server) => {
    expect(await send('admin', 'POST', '/credentials', define('inline', server))).toEqual([
      400,
      [`${option}: holds a secret: store it in Secrets Manager and give a reference`],
    ]);
  });

  it('is masked where it is allowed, and stays where its mask is sent back', async () => {
    await using own = await start({ allowPlainSecrets: true, allowSecretsWithoutRoles: true });
    const before = system;
    system = own;
    try {
      const kubeconfigFile = `encrypted:noop!v:${planted}`;
      const body = { type: 'kubernetes', name: 'inline', kubeconfigFile };
      const masked = { ...body, kubeconfigFile: '******' };

      expect(await send('manager', 'POST', '/credentials', body)).toEqual([200, masked]);
      expect(await send('admin', 'PUT', '/credentials/inline', masked)).toEqual([200, masked]);
      const shown = [
        await send('admin', 'GET', '/credentials/type/kubernetes'),
        await send('admin', 'GET', '/credentials/inline/history'),
        await send('admin', 'GET', '/credentials?expand=true'),
        await own.readLog(),
        await own.readEvents(),
      ];
      expect(JSON.stringify(shown)).not.toContain(planted);
      expect(JSON.stringify(shown)).toContain('******');
      expect(await send('admin', 'POST', '/credentials', { ...masked, name: 'other' })).toEqual([
        400,
        ['kubeconfigFile: expected a value, got the mask of one that is not stored'],
      ]);
      const named = { type: 'kubernetes', name: 'named', kubeconfigSecret: 'clusters/prod' };
      expect(await send('manager', 'POST', '/credentials', named)).toEqual([200, named]);
    } finally {
      system = before;
    }
  });
});
