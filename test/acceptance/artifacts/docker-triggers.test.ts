import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { asJsonArray, getPath, type JsonValue } from '#core/json.ts';
import {
  deleteTag,
  describeWithRegistry,
  pushImage,
  registryPassword,
  registryUser,
  startRegistry,
} from '#test/support/artifacts/registry.ts';
import { type RegistryFront, startRegistryFront } from '#test/support/artifacts/registry-front.ts';
import { startTokenRegistry } from '#test/support/artifacts/registry-tokens.ts';
import { type System, startSystem } from '#test/support/system/system.ts';

const startTimeoutMs = 600_000;

const tags = Array.from({ length: 1_000 }, (_, index) => `1.${index}`);

/** What Igor has Echo start pipelines from: the fields of a tag that its event and its artifact are made of. */
interface Trigger {
  readonly account: unknown;
  readonly registry: unknown;
  readonly repository: unknown;
  readonly tag: unknown;
  readonly digest: unknown;
  readonly details: readonly unknown[];
  readonly reference: unknown;
}

/**
 * Igor's monitor of tags: its three calls, as nobody in particular, and what it compares. A tag that it knows triggers again where the
 * account tracks digests and both are known; the first look at an account triggers nothing, and what is gone is not forgotten.
 */
function createIgor(system: System) {
  const known = new Map<JsonValue | undefined, Map<string, JsonValue | undefined>>();
  const get = async (path: string): Promise<JsonValue> => {
    const response = await system.fetch(path);
    expect(response.status).toBe(200);
    return (await response.json()) as JsonValue;
  };
  const pollAccount = async (account: JsonValue): Promise<readonly Trigger[]> => {
    const name = getPath(account, 'name');
    const found = await get(`/dockerRegistry/images/find?account=${name}&includeDetails=true`);
    const before = known.get(name) ?? new Map<string, JsonValue | undefined>();
    const after = new Map(before);
    const triggers: Trigger[] = [];
    for (const image of asJsonArray(found)) {
      const [repository, tag, digest] = ['repository', 'tag', 'digest'].map((key) => getPath(image, key));
      const id = `${repository}:${tag}`;
      const last = before.get(id);
      const isMoved =
        getPath(account, 'trackDigests') === true &&
        last !== undefined &&
        digest !== undefined &&
        last !== digest;
      if (before.has(id) && !isMoved) continue;
      after.set(id, digest);
      if (before.size > 0) triggers.push(toTrigger(image));
    }
    known.set(name, after);
    return triggers;
  };
  return {
    async poll(): Promise<readonly Trigger[]> {
      const accounts = asJsonArray(await get('/credentials'));
      const own = accounts.filter((account) => getPath(account, 'cloudProvider') === 'dockerRegistry');
      const triggers: Trigger[] = [];
      for (const account of own) {
        triggers.push(...(await pollAccount(await get(`/credentials/${getPath(account, 'name')}`))));
      }
      return triggers;
    },
  };
}

function toTrigger(image: JsonValue): Trigger {
  const read = (...path: readonly string[]) => getPath(image, ...path);
  return {
    account: read('account'),
    registry: read('registry'),
    repository: read('repository'),
    tag: read('tag'),
    digest: read('digest'),
    details: ['buildNumber', 'commitId', 'branch', 'date'].map((field) => read(field)),
    reference: read('artifact', 'reference'),
  };
}

describeWithRegistry('triggers of Docker registries', () => {
  const stack = new AsyncDisposableStack();
  let url: string;
  let protectedHost: string;
  let front: RegistryFront;
  let system: System;

  beforeAll(async () => {
    const open = stack.use(await startRegistry());
    url = open.url;
    front = stack.use(await startRegistryFront(open));
    const registry = stack.use(await startTokenRegistry(open));
    protectedHost = new URL(registry.url).host;
    await pushImage(url, { repository: 'shop/cart', tags });
    for (const repository of ['shop/pay', 'shop/sick']) await pushImage(url, { repository, tags: ['1'] });
    front.failures.set('shop/sick/', 500);
    const details = { trackDigests: true, inspectDigests: true, repositories: ['shop/pay'] };
    const accounts = [
      {
        ...{ name: 'tokens', address: registry.url, cacheIntervalSeconds: 1, ...details },
        ...{ username: registryUser, password: registryPassword },
      },
      { name: 'front', address: front.url, cacheIntervalSeconds: 1, paginateSize: 300 },
    ];
    const settings = { kubernetes: { enabled: false }, dockerRegistry: { enabled: true, accounts } };
    system = stack.use(await startSystem({ settings }));
    await vi.waitFor(async () => expect(await countImages()).toEqual([1, 1_001]), {
      timeout: 60_000,
      interval: 200,
    });
  }, startTimeoutMs);
  afterAll(() => stack[Symbol.asyncDispose]());

  const find = async (query: string): Promise<readonly JsonValue[]> => {
    const response = await system.fetch(`/dockerRegistry/images/find?${query}`);
    return asJsonArray((await response.json()) as JsonValue);
  };
  const countImages = async () => {
    const lists = await Promise.all(['tokens', 'front'].map((account) => find(`account=${account}`)));
    return lists.map((list) => list.length);
  };

  test('are what Igor finds by its calls, once for each push', async () => {
    const igor = createIgor(system);
    expect(await igor.poll()).toEqual([]);
    const image = {
      labels: { buildNumber: '8', commitId: 'abc', branch: 'main' },
      created: '2026-03-04T05:06:07Z',
    };
    const digest = await pushImage(url, { repository: 'shop/pay', tags: ['2'], image });
    const triggers: Trigger[] = [];
    await expect
      .poll(async () => {
        triggers.push(...(await igor.poll()));
        return triggers.map(({ account }) => account).sort();
      })
      .toEqual(['front', 'tokens']);
    const pushed = { repository: 'shop/pay', tag: '2' };
    const none = [undefined, undefined, undefined, undefined];
    const frontHost = new URL(front.url).host;
    expect(triggers).toContainEqual({
      ...{ ...pushed, account: 'tokens', registry: protectedHost, digest },
      details: ['8', 'abc', 'main', Date.UTC(2026, 2, 4, 5, 6, 7)],
      reference: `${protectedHost}/shop/pay:2`,
    });
    expect(triggers).toContainEqual({
      ...{ ...pushed, account: 'front', registry: frontHost, digest: undefined, details: none },
      reference: `${frontHost}/shop/pay:2`,
    });
    // A tag that is deleted, and a repository that fails, trigger nothing.
    await deleteTag(url, 'shop/pay', '1');
    await expect.poll(countImages).toEqual([1, 1_001]);
    expect(await igor.poll()).toEqual([]);
  });

  test('go on beside a repository that fails, which the agent names', async () => {
    const listAgents = async () =>
      asJsonArray((await (await system.fetch('/cache/introspection')).json()) as JsonValue);
    const agent = (await listAgents()).find((each) => JSON.stringify(each).includes('"front"'));
    expect(JSON.stringify(agent)).toMatch(/"broken":"shop\/sick \(127\.0\.0\.1:\d+ answered 500\)"/);
    expect(await find('account=front&repository=shop/sick')).toEqual([]);
    front.failures.clear();
    await expect.poll(() => find('account=front&repository=shop/sick')).toHaveLength(1);
    front.failures.set('shop/sick/', 500);
    const calls = front.calls.length;
    await expect
      .poll(() => front.calls.slice(calls).filter((call) => call.includes('shop/sick')).length)
      .toBeGreaterThan(3);
    expect(await find('account=front&repository=shop/sick')).toHaveLength(1);
  });

  test('are found among a thousand tags', async () => {
    const found = await find('account=front&repository=shop/cart');
    expect(new Set(found.map((image) => getPath(image, 'tag')))).toEqual(new Set(tags));
    expect(await find('account=front&repository=shop/cart&tag=1.77')).toHaveLength(1);
    const listed = await system.fetch('/dockerRegistry/images/tags?account=front&repository=shop/cart');
    expect(await listed.json()).toEqual([...tags].sort());
  });
});
