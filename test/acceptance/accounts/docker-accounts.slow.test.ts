import { afterAll, beforeAll, expect, it } from 'vitest';
import { asJsonArray, getPath, type JsonObject } from '#core/json.ts';
import {
  describeWithRegistry,
  pushImage,
  registryPassword,
  registryUser,
  startRegistry,
  type TestRegistry,
} from '#test/support/artifacts/registry.ts';
import { type AwsEndpoints, startAwsEndpoints } from '#test/support/engines/aws-endpoints.ts';
import { type System, startSystem } from '#test/support/system/system.ts';

const startTimeoutMs = 600_000;

const passwordReference = 'encrypted:secrets-manager!r:eu-west-1!s:hub!k:password';

const machine = 'only where busdriver.accounts.allowMachineAccess is true';

describeWithRegistry('a Docker registry account by the API', () => {
  const stack = new AsyncDisposableStack();
  let aws: AwsEndpoints;
  let registry: TestRegistry;
  let system: System;

  beforeAll(async () => {
    aws = stack.use(await startAwsEndpoints());
    aws.secrets.set('hub', { SecretString: JSON.stringify({ password: registryPassword }) });
    const open = stack.use(await startRegistry());
    registry = stack.use(await startRegistry({ auth: { scheme: 'basic' }, storage: open.storage }));
    await pushImage(open.url, { repository: 'shop/cart', tags: ['1', '2'] });
    await pushImage(open.url, { repository: 'shop/pay', tags: ['3'] });
    const yaml = { name: 'yaml', kubeconfigContents: '{}' };
    const busdriver = { accounts: { allowPlainSecrets: false } };
    system = stack.use(await startSystem({ settings: { busdriver, kubernetes: { accounts: [yaml] } } }));
  }, startTimeoutMs);
  afterAll(() => stack.disposeAsync());

  const define = (name: string, more: JsonObject = {}): JsonObject => ({
    ...{ type: 'dockerRegistry', name, address: registry.url },
    ...{ username: registryUser, password: passwordReference, ...more },
  });
  const send = async (method: string, path: string, body?: JsonObject) => {
    // As fresh as can be: the next turn of a changed account may be half a minute away.
    const headers = { 'cache-control': 'max-age=0' };
    const response = await system.fetch(path, {
      method,
      headers,
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, body: text === '' ? '' : JSON.parse(text) };
  };
  const listTags = async (account: string, repository: string) =>
    (await send('GET', `/dockerRegistry/images/tags?account=${account}&repository=${repository}`)).body;
  const findAccount = async (name: string) =>
    asJsonArray((await send('GET', '/credentials?expand=true')).body).find(
      (account) => getPath(account, 'name') === name,
    );

  it('is read by its secret, changed and deleted while Igor reads it, without a restart', async () => {
    const body = define('hub', { repositories: ['shop/cart'] });
    expect(await send('POST', '/credentials', body)).toEqual({ status: 200, body });
    expect(await findAccount('hub')).toMatchObject({
      ...{ type: 'dockerRegistry', cloudProvider: 'dockerRegistry', v2Endpoint: `${registry.url}/v2` },
    });
    await expect.poll(() => listTags('hub', 'shop/cart')).toEqual(['1', '2']);
    const health = await send('GET', '/credentials/hub/health');
    expect(health.body).toMatchObject({ account: 'hub', state: 'UP' });
    expect(await send('GET', '/credentials/type/dockerRegistry')).toEqual({ status: 200, body: [body] });
    const other = { ...body, repositories: ['shop/pay'], trackDigests: true };
    expect(await send('PUT', '/credentials/hub', other)).toEqual({ status: 200, body: other });
    await expect.poll(() => listTags('hub', 'shop/pay')).toEqual(['3']);
    expect(await findAccount('hub')).toMatchObject({ trackDigests: true });
    await expect.poll(() => listTags('hub', 'shop/cart')).toEqual([]);

    expect((await send('DELETE', '/credentials/hub')).status).toBe(200);
    expect(await findAccount('hub')).toBeUndefined();
    await expect.poll(() => listTags('hub', 'shop/pay')).toEqual([]);
    const history = asJsonArray((await send('GET', '/credentials/hub/history')).body);
    expect(history.map((change) => getPath(change, 'account'))).toEqual([undefined, other, body]);
  });

  it('has the name of no other, and keeps its type', async () => {
    expect((await send('POST', '/credentials', define('kept'))).status).toBe(200);
    const kubernetes = { type: 'kubernetes', name: 'kept', kubeconfigSecret: 'clusters/kept' };
    expect(await send('PUT', '/credentials', kubernetes)).toMatchObject({
      ...{
        status: 400,
        body: { errors: ['type: expected dockerRegistry, which account kept has: delete it first'] },
      },
    });
    expect(await send('POST', '/credentials', define('yaml'))).toMatchObject({
      ...{ status: 400, body: { message: 'Cannot create an account which already exists (name: yaml)' } },
    });
    // As in Clouddriver, a definition takes over the name of an account that only the settings have.
    expect((await send('PUT', '/credentials', define('yaml'))).status).toBe(200);
    const names = asJsonArray((await send('GET', '/credentials')).body).map((account) =>
      getPath(account, 'name'),
    );
    expect(names).toEqual(['kept', 'yaml']);
    expect(await findAccount('yaml')).toMatchObject({ cloudProvider: 'dockerRegistry' });
  });

  it.each<[JsonObject, string]>([
    [{ address: 'registry' }, 'address: expected a URL with http or https'],
    [{ address: null }, 'must provide an endpoint address.'],
    [{ password: 'planted' }, 'password: holds a secret: store it in Secrets Manager and give a reference'],
    [{ password: 12_345 }, 'password: holds a secret'],
    [{ password: 'encrypted:noop!v:planted' }, 'password: holds a secret'],
    [{ password: 'encrypted:vault!e:planted' }, 'password: the secret engine vault is not supported'],
    [{ email: passwordReference }, 'email: expected the value itself, no reference to a secret'],
    [{ cacheThreads: 'many', paginateSize: -1 }, 'cacheThreads: expected'],
    [{ repositories: ['a'], repositoriesRegex: 'b' }, 'repositories and repositoriesRegex may not be'],
    [{ permissions: { WRIET: ['a'] } }, 'permissions.WRIET: expected one of READ'],
    [{ password: null, passwordFile: '/planted' }, `passwordFile: a file or program of the machine`],
    [{ password: null, passwordCommand: 'planted' }, machine],
    [{ password: null, dockerconfigFile: '/planted' }, machine],
    [{ catalogFile: '/planted' }, machine],
    [
      { password: null, ecr: { registryId: '123456789012', region: 'eu-west-1' } },
      'address: expected the registry',
    ],
  ])('is refused with %o, in words that name the option', async (more, message) => {
    const { status, body } = await send('POST', '/credentials', define('wrong', more));
    expect({ status, body }).toEqual({
      status: 400,
      body: expect.objectContaining({ errors: expect.arrayContaining([expect.stringContaining(message)]) }),
    });
    expect(JSON.stringify(body)).not.toContain('planted');
    expect(asJsonArray(body.errors)[0]).toMatch(/^[A-Za-z]/);
  });

  it('keeps no member that is no option', async () => {
    const more = { repositoriez: ['x'], ecr: null, email: 'a@b.test' };
    expect((await send('POST', '/credentials', define('dropped', more))).body).toEqual({
      ...define('dropped', { email: 'a@b.test', ecr: null }),
    });
    expect(system.stderr).toContain("repositoriez: unknown, and of no effect: did you mean 'repositories'?");
  });
});

describeWithRegistry('where secrets are allowed', () => {
  it('a definition holds a password, which is never shown, and stays with its registry', async () => {
    await using registry = await startRegistry({ auth: { scheme: 'basic' } });
    const settings = { busdriver: { accounts: { allowPlainSecrets: true } }, kubernetes: { enabled: false } };
    await using system = await startSystem({ settings });
    const send = async (method: string, path: string, body?: object) => {
      const headers = { 'cache-control': 'max-age=0' };
      const init = { method, headers, ...(body && { body: JSON.stringify(body) }) };
      return (await system.fetch(path, init)).json();
    };
    const body = { type: 'dockerRegistry', name: 'hub', address: registry.url, username: registryUser };
    const masked = { ...body, password: '******' };

    expect(await send('POST', '/credentials', { ...body, password: registryPassword })).toEqual(masked);
    expect(await send('PUT', '/credentials/hub', { ...masked, address: 'http://127.0.0.1:1' })).toMatchObject(
      {
        errors: [
          'password: expected the value, for address is another: a mask keeps a secret where it was sent to',
        ],
      },
    );
    expect(await send('PUT', '/credentials/hub', { ...masked, email: 'a@b.test' })).toMatchObject(masked);
    // The registry takes the password that the mask kept.
    await expect
      .poll(async () => {
        await send('GET', '/dockerRegistry/images/find?account=hub');
        return send('GET', '/credentials/hub/health');
      })
      .toMatchObject({ account: 'hub', state: 'UP' });
    const shown = [
      await send('GET', '/credentials/type/dockerRegistry'),
      await send('GET', '/credentials/hub/history'),
      await send('GET', '/credentials?expand=true'),
      await system.readLog(),
      await system.readEvents(),
    ];
    expect(JSON.stringify(shown)).not.toContain(registryPassword);
  });
});
