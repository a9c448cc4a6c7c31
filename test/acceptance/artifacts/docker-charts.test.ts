import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { asJsonArray } from '#core/json.ts';
import {
  deleteTag,
  describeWithRegistry,
  pushChart,
  pushImage,
  startRegistry,
  type TestRegistry,
} from '#test/support/artifacts/registry.ts';
import { type System, startSystem } from '#test/support/system/system.ts';

const startTimeoutMs = 600_000;

describeWithRegistry('charts of a Docker registry', () => {
  const stack = new AsyncDisposableStack();
  let registry: TestRegistry;
  let system: System;
  const archive = Buffer.from('archive');

  beforeAll(async () => {
    registry = stack.use(await startRegistry());
    for (const tag of ['1.9.0', '1.10.0']) {
      await pushChart(registry.url, { repository: 'charts/shop', tag, archive });
    }
    await pushChart(registry.url, { repository: 'charts/web', tag: '0.1.0', archive });
    await pushImage(registry.url, { repository: 'shop/cart', tags: ['1'] });
    const { url: address } = registry;
    const accounts = [
      {
        name: 'charts',
        address,
        repositories: ['shop/cart'],
        helmOciRepositories: ['charts/shop', 'charts/none'],
      },
      { name: 'images', address, repositories: ['shop/cart'] },
    ];
    const settings = {
      kubernetes: { enabled: false },
      artifacts: { urlRestrictions: { allowedIps: ['127.0.0.1'] } },
      dockerRegistry: { enabled: true, accounts },
    };
    system = stack.use(await startSystem({ settings }));
    await vi.waitFor(async () => expect((await ask('images/find')).body).toHaveLength(2), waiting);
    await vi.waitFor(async () => expect((await ask('charts/find')).body).toHaveLength(2), waiting);
  }, startTimeoutMs);
  afterAll(() => stack.disposeAsync());

  const waiting = { timeout: 60_000, interval: 200 };
  const ask = async (path: string, headers: Record<string, string> = {}) => {
    const response = await system.fetch(`/dockerRegistry/${path}`, { headers });
    return { status: response.status, headers: response.headers, body: asJsonArray(await response.json()) };
  };

  test('are versions of the repositories that the account lists, as artifacts', async () => {
    const { headers, body } = await ask('charts/find');
    const host = new URL(registry.url).host;
    expect(body).toEqual(
      ['1.10.0', '1.9.0'].map((tag) => ({
        ...{ account: 'charts', registry: host, repository: 'charts/shop', tag },
        artifact: {
          ...{
            type: 'helm/image',
            name: 'charts/shop',
            version: tag,
            reference: `${host}/charts/shop:${tag}`,
          },
          metadata: { registry: host, labels: {} },
        },
      })),
    );
    expect(headers.get('x-busdriver-lag')).toMatch(/^charts=\d+$/);
  });

  test('are found by what is asked, apart from images', async () => {
    const query = 'account=charts&repository=charts/shop';
    expect((await ask(`charts/find?${query}&tag=1.9.0`)).body).toMatchObject([{ tag: '1.9.0' }]);
    expect((await ask(`charts/tags?${query}`)).body).toEqual(['1.10.0', '1.9.0']);
    for (const path of [
      'charts/find?account=images',
      'charts/find?q=cart',
      'charts/tags?account=charts&repository=shop/cart',
      'charts/tags?account=charts&repository=charts/web',
      'images/tags?account=charts&repository=charts/shop',
    ]) {
      expect((await ask(path)).body).toEqual([]);
    }
    expect((await ask('charts/find?count=many')).status).toBe(400);
  });

  test('are fetched as they are shown', async () => {
    const [shown] = (await ask('charts/find')).body;
    const { artifact } = shown as { artifact: object };
    const response = await system.fetch('/artifacts/fetch', {
      method: 'PUT',
      body: JSON.stringify({ ...artifact, artifactAccount: 'charts' }),
    });
    expect([response.status, await response.text()]).toEqual([200, 'archive']);
  });

  test('come and go with their tags', async () => {
    const fresh = { 'cache-control': 'max-age=0' };
    await pushChart(registry.url, { repository: 'charts/shop', tag: '1.11.0', archive });
    await deleteTag(registry.url, 'charts/shop', '1.9.0');
    expect((await ask('charts/tags?account=charts&repository=charts/shop', fresh)).body).toEqual([
      ...['1.10.0', '1.11.0'],
    ]);
  });
});
