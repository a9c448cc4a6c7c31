import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { asJsonArray, asJsonObject, type JsonValue } from '#core/json.ts';
import {
  deleteTag,
  describeWithRegistry,
  pushImage,
  registryPassword,
  registryUser,
  startRegistry,
  type TestRegistry,
} from '#test/support/artifacts/registry.ts';
import { type System, startSystem } from '#test/support/system/system.ts';

const startTimeoutMs = 600_000;

describeWithRegistry('images of a Docker registry', () => {
  const stack = new AsyncDisposableStack();
  let open: TestRegistry;
  let registry: TestRegistry;
  let system: System;
  let digest: string;

  beforeAll(async () => {
    open = stack.use(await startRegistry());
    registry = stack.use(await startRegistry({ auth: { scheme: 'basic' }, storage: open.storage }));
    const labels = { buildNumber: '7', commitId: 'abc', branch: 'main', team: 'shop' };
    const image = { labels, created: '2026-03-04T05:06:07.5Z' };
    digest = await pushImage(open.url, { repository: 'shop/cart', tags: ['1.10', '1.9'], image });
    const newer = { created: '2026-05-01T00:00:00Z' };
    await pushImage(open.url, { repository: 'shop/cart', tags: ['1.0-hotfix'], image: newer });
    await pushImage(open.url, { repository: 'shop/pay', tags: ['2'] });
    const account = { address: registry.url, username: registryUser, password: registryPassword };
    const details = { trackDigests: true, inspectDigests: true, sortTagsByDate: true };
    const accounts = [
      { ...account, name: 'hub', ...details },
      { ...account, name: 'plain', repositories: ['shop/pay'] },
    ];
    const settings = { kubernetes: { enabled: false }, dockerRegistry: { enabled: true, accounts } };
    system = stack.use(await startSystem({ settings }));
    await vi.waitFor(async () => expect(await find('')).toHaveLength(5), { timeout: 60_000, interval: 200 });
  }, startTimeoutMs);
  afterAll(() => stack.disposeAsync());

  const ask = async (path: string, headers: Record<string, string> = {}) => {
    const response = await system.fetch(path, { headers });
    const body: unknown = await response.json();
    return { status: response.status, headers: response.headers, body };
  };
  const find = async (query: string, headers?: Record<string, string>): Promise<readonly JsonValue[]> =>
    asJsonArray((await ask(`/dockerRegistry/images/find?${query}`, headers)).body);
  const name = (images: readonly JsonValue[]) =>
    images.map((image) => {
      const { account, repository, tag } = asJsonObject(image) ?? {};
      return `${account} ${repository}:${tag}`;
    });

  const listPushed = async (account: string) =>
    (await system.readEvents())
      .filter((event) => event['detail-type'] === 'ImagePushed' && event.detail['account'] === account)
      .map(({ detail }) => `${detail['repository']}:${detail['tag']}`);

  test('have what Igor reads', async () => {
    const { body, headers } = await ask('/dockerRegistry/images/find?account=hub&includeDetails=true');
    const host = new URL(registry.url).host;
    expect(asJsonArray(body)[1]).toEqual({
      account: 'hub',
      registry: host,
      repository: 'shop/cart',
      tag: '1.10',
      digest,
      artifact: {
        type: 'docker',
        name: 'shop/cart',
        version: '1.10',
        reference: `${host}/shop/cart:1.10`,
        metadata: {
          registry: host,
          labels: { buildNumber: '7', commitId: 'abc', branch: 'main', team: 'shop' },
        },
      },
      buildNumber: '7',
      commitId: 'abc',
      branch: 'main',
      date: Date.UTC(2026, 2, 4, 5, 6, 7, 500),
    });
    expect(headers.get('x-busdriver-lag')).toMatch(/^hub=\d+$/);
  });

  test('are found by what is asked', async () => {
    const cart = ['hub shop/cart:1.0-hotfix', 'hub shop/cart:1.10', 'hub shop/cart:1.9'];
    expect(name(await find(''))).toEqual([...cart, 'hub shop/pay:2', 'plain shop/pay:2']);
    expect(name(await find('q=CART:1.1'))).toEqual(['hub shop/cart:1.10']);
    expect(name(await find('account=hub&repository=shop/cart'))).toEqual(cart);
    expect(name(await find('account=hub&repository=shop/cart&tag=1.9'))).toEqual(['hub shop/cart:1.9']);
    // As in Clouddriver: a tag counts with its repository alone, and what is counted is not yet chosen.
    expect(await find('account=hub&tag=1.9')).toHaveLength(4);
    expect(await find('account=hub&count=3&repository=shop/pay')).toEqual([]);
    expect(await find('account=hub&count=2')).toHaveLength(2);
    expect(await find('account=nobody')).toEqual([]);
    expect((await ask('/titus/images/find?account=plain')).body).toEqual(await find('account=plain'));
    expect((await ask('/aws/images/find?q=shop')).body).toEqual([]);
    expect((await ask('/dockerRegistry/images/find?count=many')).status).toBe(400);
  });

  test('have their tags by name, or newest first where the account says so', async () => {
    const list = async (query: string) => (await ask(`/dockerRegistry/images/tags?${query}`)).body;
    expect(await list('account=hub&repository=shop/cart')).toEqual(['1.0-hotfix', '1.10', '1.9']);
    expect(await list('account=plain&repository=shop/pay')).toEqual(['2']);
    expect(await list('account=plain&repository=shop/cart')).toEqual([]);
    expect(await list('account=nobody&repository=shop/cart')).toEqual([]);
    expect(await list('')).toEqual([]);
  });

  test('are as fresh as a request demands, and gone when their tags are', async () => {
    await pushImage(open.url, { repository: 'shop/pay', tags: ['3'] });
    const fresh = { 'cache-control': 'max-age=0' };
    expect(name(await find('account=plain', fresh))).toEqual(['plain shop/pay:2', 'plain shop/pay:3']);
    // Who does not want to poll is told.
    await expect.poll(() => listPushed('plain')).toEqual(['shop/pay:3']);
    await deleteTag(open.url, 'shop/pay', '2');
    expect(name(await find('account=plain', fresh))).toEqual(['plain shop/pay:3']);
  });

  test('are of accounts that /credentials shows, without what is secret', async () => {
    const { body } = await ask('/credentials?expand=true');
    expect(asJsonArray(body)[1]).toMatchObject({
      name: 'plain',
      cloudProvider: 'dockerRegistry',
      address: registry.url,
      v2Endpoint: `${registry.url}/v2`,
      cacheIntervalSeconds: 30,
    });
    expect(JSON.stringify(body)).not.toMatch(/robot|s3cr3t|shop/);
    expect(system.stderr).not.toContain(registryPassword);
  });
});
