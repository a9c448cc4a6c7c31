import { beforeAll, expect, test } from 'vitest';
import { createCacheStore } from '#caching/aws/store/cache-store.ts';
import type { CachingResult } from '#caching/scheduling/caching-agent.ts';
import type { CacheStore } from '#caching/store/cache-store.ts';
import type { Clock } from '#core/clock.ts';
import type { JsonObject } from '#core/json.ts';
import { cacheTable } from '#platform/aws/tables.ts';
import { systemClock, systemRandomness } from '#platform/services/system.ts';
import { CachedRepositories } from '#providers/docker-registry/cached-repositories.ts';
import { readChunks } from '#providers/docker-registry/cached-tags.ts';
import {
  digestLifetimeMs,
  lookAgainMs,
  runImageCachingAgent,
} from '#providers/docker-registry/image-platform.ts';
import { pushedToldMax } from '#providers/docker-registry/pushed-images.ts';
import {
  deleteTag,
  describeWithRegistry,
  pushImage,
  startRegistry,
  type TestRegistry,
} from '#test/support/artifacts/registry.ts';
import { type RegistryFront, startRegistryFront } from '#test/support/artifacts/registry-front.ts';
import { useLocalTables } from '#test/support/engines/local-tables.ts';
import { disposeAfterAll } from '#test/support/run/disposal.ts';
import { createTestClock } from '#test/support/run/test-clock.ts';
import { openClient, parseAccount } from './test-account.ts';

/** The images that a run tells, without the folder of their repositories. */
function toPushed({ events = [] }: CachingResult): string[] {
  const images = events.map(({ detail }) => `${detail['repository']}:${detail['tag']}`);
  return images.map((image) => image.slice(image.indexOf('/') + 1)).sort();
}

/** Building a registry may take this long. */
const startTimeoutMs = 600_000;

describeWithRegistry('the caching agent of a registry', () => {
  const openTable = useLocalTables();
  let registry: TestRegistry;
  let front: RegistryFront;
  let count = 0;

  beforeAll(async () => {
    registry = await startRegistry();
    front = await startRegistryFront(registry);
  }, startTimeoutMs);
  disposeAfterAll(() => [front, registry]);

  /** An agent of an account that sees the repositories of one test alone, below a folder of its own. */
  function openAgent(options: JsonObject = {}) {
    count += 1;
    const folder = `test${count}`;
    const name = `hub${count}`;
    const { tableName, openDocuments } = openTable(cacheTable);
    const parts = { documents: openDocuments(), tableName, randomness: systemRandomness, codecs: {} };
    const store = createCacheStore({ ...parts, clock: systemClock });
    const reads: string[] = [];
    const cache: CacheStore = {
      ...store,
      getObjects(keys, more) {
        reads.push(...keys.map((key) => key.name));
        return store.getObjects(keys, more);
      },
    };
    const clock = createTestClock();
    const given = {
      name,
      address: front.url,
      repositoriesRegex: `${folder}/.*`,
      cacheThreads: 10,
      paginateSize: 1000,
      ...options,
    };
    const account = parseAccount(given);
    const opened = openClient(given, { clock });
    const run = (state?: string, isAlone = true, runClock: Clock = clock): Promise<CachingResult> => {
      const { signal } = new AbortController();
      const { client, listing } = opened;
      return runImageCachingAgent(
        { account, client, listing, clock: runClock, randomness: systemRandomness, kind: 'repository' },
        { cache, state, isAlone, signal, ensureHeld() {}, async commitState() {} },
      );
    };
    const cached = new CachedRepositories(cache, { account: name, kind: 'repository' });
    const readTags = async (repository: string) => {
      const { chunks = 0 } = (await cached.list()).get(`${folder}/${repository}`) ?? {};
      return readChunks(await cached.load(`${folder}/${repository}`, chunks));
    };
    const readNames = async (repository: string) => (await readTags(repository)).map((tag) => tag.name);
    return {
      account: name,
      folder,
      clock,
      reads,
      run,
      readTags,
      readNames,
      [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose](),
    };
  }

  test('caches what is there, writes nothing without a change, and only what changed', async () => {
    await using agent = openAgent();
    const { folder } = agent;
    const tags = Array.from({ length: 1_000 }, (_, index) => `1.${index}`);
    await pushImage(registry.url, { repository: `${folder}/cart`, tags });
    await pushImage(registry.url, { repository: `${folder}/pay`, tags: ['1', '2'] });
    const first = await agent.run();
    expect(first).toMatchObject({ outcome: 'done', items: 2, changes: 2, asOfMs: expect.any(Number) });
    expect(await agent.readNames('cart')).toEqual([...tags].sort());

    front.calls.length = 0;
    agent.reads.length = 0;
    const second = await agent.run(first.state);
    expect(second).toMatchObject({ changes: 0, state: first.state });
    expect(agent.reads).toEqual([]);
    const lists = ['GET /v2/_catalog', `GET /v2/${folder}/cart/tags/list`, `GET /v2/${folder}/pay/tags/list`];
    expect([...front.calls].sort()).toEqual(lists.sort());
    // The state is lost: all is compared, and nothing differs.
    expect(await agent.run()).toMatchObject({ changes: 0 });

    await pushImage(registry.url, { repository: `${folder}/pay`, tags: ['3'] });
    await deleteTag(registry.url, `${folder}/pay`, '1');
    const third = await agent.run(second.state);
    expect(third).toMatchObject({ changes: 1 });
    expect(await agent.readNames('pay')).toEqual(['2', '3']);
  }, 60_000);

  test('keeps what it has of a repository that fails, and evicts one that is gone', async () => {
    await using agent = openAgent();
    const { folder } = agent;
    for (const name of ['cart', 'pay', 'old']) {
      await pushImage(registry.url, { repository: `${folder}/${name}`, tags: ['1'] });
    }
    const { state } = await agent.run();
    await pushImage(registry.url, { repository: `${folder}/cart`, tags: ['2'] });
    front.failures.set(`${folder}/pay/`, 500).set(`${folder}/old/`, 404);
    const run = await agent.run(state);
    expect(run).toMatchObject({ outcome: 'done', items: 2, changes: 2, asOfMs: undefined });
    expect(run.details?.['broken']).toMatch(new RegExp(`^${folder}/pay \\(127.0.0.1:\\d+ answered 500\\)$`));
    expect(await agent.readNames('cart')).toEqual(['1', '2']);
    expect(await agent.readNames('pay')).toEqual(['1']);
    expect(await agent.readNames('old')).toEqual([]);
    front.failures.clear();
    expect(await agent.run(run.state)).toMatchObject({ items: 3, changes: 1, asOfMs: expect.any(Number) });
  });

  test('fails, and evicts nothing, without a catalog, and where no repository can be read', async () => {
    await using agent = openAgent();
    const { folder } = agent;
    await pushImage(registry.url, { repository: `${folder}/cart`, tags: ['1'] });
    const { state } = await agent.run();
    front.failures.set('_catalog', 500);
    await expect(agent.run(state)).rejects.toThrow(/answered 500$/);
    front.failures.clear();
    front.failures.set(`${folder}/`, 500);
    await expect(agent.run(state)).rejects.toThrow(/^no repository can be read: .* answered 500$/);
    front.failures.clear();
    expect(await agent.readNames('cart')).toEqual(['1']);
  });

  test('tells of images that are pushed after the first run, new repositories among them', async () => {
    await using agent = openAgent();
    const { folder } = agent;
    await pushImage(registry.url, { repository: `${folder}/cart`, tags: ['1'] });
    await pushImage(registry.url, { repository: `${folder}/pay`, tags: ['1'] });
    front.failures.set(`${folder}/pay/`, 500);
    const first = await agent.run();
    expect(first.events).toEqual([]);
    await pushImage(registry.url, { repository: `${folder}/cart`, tags: ['3', '2'] });
    await pushImage(registry.url, { repository: `${folder}/new`, tags: ['7'] });
    front.failures.clear();
    const second = await agent.run(first.state);
    // What could not be read at first was there before.
    expect(toPushed(second)).toEqual(['cart:2', 'cart:3', 'new:7']);
    const registryName = new URL(front.url).host;
    expect(second.events).toContainEqual({
      type: 'ImagePushed',
      atMs: expect.any(Number),
      detail: { account: agent.account, registry: registryName, repository: `${folder}/cart`, tag: '2' },
    });
    expect(toPushed(await agent.run(second.state))).toEqual([]);
    await deleteTag(registry.url, `${folder}/cart`, '2');
    await pushImage(registry.url, { repository: `${folder}/pay`, tags: ['2'] });
    expect(toPushed(await agent.run(second.state))).toEqual(['pay:2']);
    // Without what it knew it cannot tell what is new.
    await pushImage(registry.url, { repository: `${folder}/pay`, tags: ['3'] });
    expect(toPushed(await agent.run())).toEqual([]);
  });

  test('tells of a thousand pushed images in a run, and counts the others', async () => {
    await using agent = openAgent();
    const repository = `${agent.folder}/cart`;
    await pushImage(registry.url, { repository, tags: ['first'] });
    const { state } = await agent.run();
    const tags = Array.from({ length: pushedToldMax + 7 }, (_, index) => `1.${index}`);
    await pushImage(registry.url, { repository, tags });
    const run = await agent.run(state);
    expect(run.events).toHaveLength(pushedToldMax);
    expect(run.details).toEqual({ pushedUntold: 7 });
  }, 60_000);

  test('asks to be alone for its first run', async () => {
    await using agent = openAgent();
    front.calls.length = 0;
    expect(await agent.run(undefined, false)).toMatchObject({ outcome: 'listing', changes: 0 });
    expect(front.calls).toEqual([]);
  });

  test('asks for digests of new tags at once, and of all in each run, by HEAD', async () => {
    await using agent = openAgent({ trackDigests: true, inspectDigests: true });
    const { folder } = agent;
    const repository = `${folder}/cart`;
    const image = { labels: { branch: 'main' }, created: '2026-01-02T03:04:05Z' };
    const digest = await pushImage(registry.url, { repository, tags: ['1', '2'], image });
    const first = await agent.run();
    const tag = { name: '1', digest, created: image.created, labels: image.labels };
    expect(await agent.readTags('cart')).toEqual([tag, { ...tag, name: '2' }]);
    // One image, whatever its tags.
    expect(front.calls.filter((call) => call.includes('/blobs/') && call.includes(repository))).toHaveLength(
      1,
    );

    const moved = await pushImage(registry.url, {
      repository,
      tags: ['2'],
      image: { labels: { branch: 'dev' } },
    });
    front.calls.length = 0;
    const second = await agent.run(first.state);
    const asked = front.calls.filter((call) => call.includes('/manifests/')).sort();
    // And the image that is not known yet.
    expect(asked).toEqual([
      `GET /v2/${repository}/manifests/${moved}`,
      ...['1', '2'].map((name) => `HEAD /v2/${repository}/manifests/${name}`),
    ]);
    expect(second).toMatchObject({ changes: 1 });
    expect(second.events?.map(({ detail }) => detail)).toEqual([
      expect.objectContaining({ repository, tag: '2', digest: moved }),
    ]);
    expect((await agent.readTags('cart')).map((each) => [each.name, each.digest, each.labels])).toEqual([
      ['1', digest, { branch: 'main' }],
      ['2', moved, { branch: 'dev' }],
    ]);
    expect(await agent.run(second.state)).toMatchObject({ changes: 0 });
  });

  test('asks for no more digests in a run than ten seconds allow, and for all within ten minutes', async () => {
    await using agent = openAgent({ trackDigests: true });
    const repository = `${agent.folder}/cart`;
    const tags = Array.from({ length: 30 }, (_, index) => `1.${10 + index}`);
    await pushImage(registry.url, { repository, tags });
    let { state } = await agent.run();
    /** What a run asks for where each look at the clock takes a second. */
    const look = async () => {
      let ms = 0;
      const monotonic = () => {
        ms += 1_000;
        return ms;
      };
      front.calls.length = 0;
      ({ state } = await agent.run(state, true, { ...agent.clock, monotonic }));
      const heads = front.calls.filter((call) => call.startsWith('HEAD'));
      return heads.map((call) => call.slice(call.lastIndexOf('/') + 1)).sort();
    };
    const runs = [await look(), await look()];
    expect(runs.every(({ length }) => length > 0 && length <= lookAgainMs / 1_000)).toBe(true);
    // The second goes on where the first left off.
    expect(runs.flat()).toEqual(tags.slice(0, runs.flat().length));
    agent.clock.advance(digestLifetimeMs);
    expect([...runs.flat(), ...(await look())]).toEqual(tags);
  });
});
