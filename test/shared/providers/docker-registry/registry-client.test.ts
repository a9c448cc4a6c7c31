import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  deleteTag,
  describeWithRegistry,
  pushImage,
  registryPassword,
  registryUser,
  startRegistry,
  type TestRegistry,
} from '#test/support/artifacts/registry.ts';
import { startRegistryFront } from '#test/support/artifacts/registry-front.ts';
import { startTokenRegistry } from '#test/support/artifacts/registry-tokens.ts';
import { openClient } from './test-account.ts';

const { signal } = new AbortController();
const credentials = { username: registryUser, password: registryPassword };

/** Building a registry may take this long. */
const startTimeoutMs = 600_000;

describeWithRegistry('a client of the Distribution registry', () => {
  let open: TestRegistry;
  let digest: string;
  const tags = Array.from({ length: 1_000 }, (_, index) => `1.${index}`);
  const labels = { buildNumber: '7', commitId: 'abc', branch: 'main' };

  beforeAll(async () => {
    open = await startRegistry();
    const image = { labels, created: '2026-03-04T05:06:07Z' };
    digest = await pushImage(open.url, { repository: 'shop/cart', tags, image });
    for (const repository of ['shop/pay', 'tools/lint'])
      await pushImage(open.url, { repository, tags: ['1'] });
  }, startTimeoutMs);
  afterAll(async () => open?.[Symbol.asyncDispose]());

  test('lists repositories and a thousand tags, page by page', async () => {
    await using opened = openClient({ address: open.url, paginateSize: 2, cacheThreads: 10 });
    expect(await opened.client.listRepositories(signal)).toEqual(['shop/cart', 'shop/pay', 'tools/lint']);
    await using wide = openClient({ address: `${open.url}/v2/`, paginateSize: 300 });
    const found = await wide.client.listTags('shop/cart', signal);
    expect(found).toHaveLength(1_000);
    expect(new Set(found)).toEqual(new Set(tags));
  });

  test('asks its own host for further pages, whatever host the registry behind it names', async () => {
    await using front = await startRegistryFront(open, 'http://internal:8081');
    await using opened = openClient({ address: front.url, paginateSize: 300 });
    expect(new Set(await opened.client.listTags('shop/cart', signal))).toEqual(new Set(tags));
  });

  test('tells a repository without tags, and one that is not there', async () => {
    await pushImage(open.url, { repository: 'shop/gone', tags: ['1', '2'] });
    await using opened = openClient({ address: open.url });
    await deleteTag(open.url, 'shop/gone', '1');
    expect(await opened.client.listTags('shop/gone', signal)).toEqual(['2']);
    await deleteTag(open.url, 'shop/gone', '2');
    expect((await opened.client.listTags('shop/gone', signal)) ?? []).toEqual([]);
    expect(await opened.client.listTags('shop/none', signal)).toBeUndefined();
  });

  test('tells digests, and what an image says of itself', async () => {
    await using opened = openClient({ address: open.url });
    expect(await opened.client.findDigest('shop/cart', '1.7', signal)).toBe(digest);
    expect(await opened.client.findDigest('shop/cart', 'none', signal)).toBeUndefined();
    const details = { labels, created: '2026-03-04T05:06:07Z' };
    expect(await opened.client.getImageDetails('shop/cart', digest, signal)).toEqual(details);
  });

  test('gives user and password where the registry wants them', async () => {
    await using registry = await startRegistry({ auth: { scheme: 'basic' }, storage: open.storage });
    await using opened = openClient({ address: registry.url, ...credentials });
    expect(await opened.client.listTags('shop/pay', signal)).toEqual(['1']);
    await using wrong = openClient({
      address: registry.url,
      username: registryUser,
      password: 'planted-wrong',
    });
    await expect(wrong.client.listTags('shop/pay', signal)).rejects.toThrow(
      'the registry answered 401: it refuses the username and password of the account',
    );
    await using none = openClient({ address: registry.url });
    await expect(none.client.listTags('shop/pay', signal)).rejects.toThrow('the account has none');
  });

  test('gets one token for each repository, and another when that ends', async () => {
    await using registry = await startTokenRegistry(open);
    await using opened = openClient({ address: registry.url, paginateSize: 100, ...credentials });
    expect(await opened.client.listRepositories(signal)).toContain('shop/pay');
    expect(await opened.client.listTags('shop/cart', signal)).toHaveLength(1_000);
    await opened.client.findDigest('shop/cart', '1.7', signal);
    expect(registry.scopes).toEqual(['registry:catalog:*', 'repository:shop/cart:pull']);
    registry.lifetimeSeconds = 1;
    await opened.client.listTags('shop/pay', signal);
    await opened.client.listTags('shop/pay', signal);
    expect(registry.scopes.slice(2)).toEqual(['repository:shop/pay:pull', 'repository:shop/pay:pull']);
    await using wrong = openClient({ address: registry.url, ...credentials, password: 'planted-wrong' });
    await expect(wrong.client.listTags('shop/pay', signal)).rejects.toThrow(
      /^the token server .* answered 401$/,
    );
  });
});
