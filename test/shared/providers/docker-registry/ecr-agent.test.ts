import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createCacheStore } from '#caching/aws/store/cache-store.ts';
import type { CachingResult } from '#caching/scheduling/caching-agent.ts';
import type { JsonObject } from '#core/json.ts';
import { createAws } from '#platform/aws/identity/aws-access.ts';
import { cacheTable } from '#platform/aws/tables.ts';
import { systemClock, systemRandomness } from '#platform/services/system.ts';
import { CachedRepositories } from '#providers/docker-registry/cached-repositories.ts';
import { readChunks } from '#providers/docker-registry/cached-tags.ts';
import { runImageCachingAgent, updateRepository } from '#providers/docker-registry/image-platform.ts';
import { ecrRegion, ecrRegistryId, startEcr, type TestEcr, toDigest } from '#test/support/artifacts/ecr.ts';
import { startAwsEndpoints } from '#test/support/engines/aws-endpoints.ts';
import { useLocalTables } from '#test/support/engines/local-tables.ts';
import { makeTempDir } from '#test/support/run/temp-dir.ts';
import { openClient, parseAccount } from './test-account.ts';

const address = `https://${ecrRegistryId}.dkr.ecr.${ecrRegion}.amazonaws.com`;
const pushedAtMs = Date.parse('2026-03-04T05:06:07.000Z');

describe('the caching agent of an ECR registry', () => {
  const openTable = useLocalTables();
  let stack: AsyncDisposableStack;
  let ecr: TestEcr;
  let count = 0;

  beforeEach(async () => {
    stack = new AsyncDisposableStack();
    const folder = stack.use(await makeTempDir());
    stack.use(await startAwsEndpoints(folder.path));
    ecr = stack.use(await startEcr());
    stack.defer(() => void vi.unstubAllEnvs());
  });
  afterEach(() => stack.disposeAsync());

  /** Puts an image there, as a push does: its tags leave the images that they were of. */
  function push(repository: string, letter: string, ...tags: string[]): void {
    const images = ecr.repositories.get(repository) ?? new Map();
    for (const [digest, image] of images) {
      images.set(digest, { ...image, tags: image.tags.filter((tag: string) => !tags.includes(tag)) });
    }
    images.set(toDigest(letter), { tags, pushedAtMs });
    ecr.repositories.set(repository, images);
  }

  function openAgent(options: JsonObject = {}) {
    count += 1;
    const given = { name: `ecr${count}`, address, ...options };
    const account = parseAccount(given);
    const { tableName, openDocuments } = openTable(cacheTable);
    const parts = { documents: openDocuments(), tableName, randomness: systemRandomness, codecs: {} };
    const cache = createCacheStore({ ...parts, clock: systemClock });
    const environment = { AWS_ENDPOINT_URL_ECR: ecr.url };
    const openAws = async () => createAws({ clock: systemClock, environment });
    const { client, listing } = stack.use(openClient(given, { services: { openAws } }));
    const agent = {
      ...{ account, client, listing, clock: systemClock, randomness: systemRandomness },
      kind: 'repository',
    } as const;
    const { signal } = new AbortController();
    const cached = new CachedRepositories(cache, { account: account.name, kind: 'repository' });
    return {
      run: (state?: string): Promise<CachingResult> =>
        runImageCachingAgent(agent, {
          ...{ cache, state, isAlone: true, signal, ensureHeld() {} },
          async commitState() {},
        }),
      update: (repository: string, pushedTag?: string) =>
        updateRepository(agent, { repository, pushedTag }, { cache, signal }),
      async readTags(repository: string) {
        const { chunks = 0 } = (await cached.list()).get(repository) ?? {};
        return readChunks(await cached.load(repository, chunks));
      },
      async readNames(repository: string) {
        return (await this.readTags(repository)).map(({ name }) => name);
      },
    };
  }

  test('caches tags with digests and push dates, and asks for no manifest', async () => {
    ecr.pageSize = 1;
    push('shop/cart', 'a', '1', 'latest');
    push('shop/cart', 'b', '0');
    push('shop/pay', 'c', '7');
    const agent = openAgent();
    const first = await agent.run();
    expect(first).toMatchObject({ outcome: 'done', items: 2, changes: 2 });
    const created = '2026-03-04T05:06:07.000Z';
    expect(await agent.readTags('shop/cart')).toEqual([
      { name: '0', digest: toDigest('b'), created },
      { name: '1', digest: toDigest('a'), created },
      { name: 'latest', digest: toDigest('a'), created },
    ]);
    const calls = ecr.calls.map(({ action }) => action).sort();
    expect(calls).toEqual([
      ...['DescribeImages', 'DescribeImages', 'DescribeImages'],
      ...['DescribeRepositories', 'DescribeRepositories'],
    ]);
    expect(await agent.run(first.state)).toMatchObject({ changes: 0, state: first.state });
  });

  test('notices a tag that was moved to another image', async () => {
    push('shop/cart', 'a', 'latest');
    const agent = openAgent();
    const { state } = await agent.run();
    push('shop/cart', 'b', 'latest');
    expect(await agent.run(state)).toMatchObject({ changes: 1 });
    expect(await agent.readTags('shop/cart')).toMatchObject([{ name: 'latest', digest: toDigest('b') }]);
  });

  test('is throttled, and asks again', async () => {
    push('shop/cart', 'a', '1');
    ecr.refusals.push({ status: 400, code: 'ThrottlingException' });
    const agent = openAgent();
    expect(await agent.run()).toMatchObject({ outcome: 'done', items: 1 });
    expect(ecr.countCalls('DescribeRepositories')).toBe(2);
  });

  test('keeps its tags where ECR refuses, and says why', async () => {
    push('shop/cart', 'a', '1');
    const agent = openAgent();
    const { state } = await agent.run();
    ecr.refusals.push({ status: 400, code: 'AccessDeniedException', message: 'User: me may not' });
    await expect(agent.run(state)).rejects.toThrow('allow ecr:DescribeRepositories on its repositories');
    expect(await agent.readNames('shop/cart')).toEqual(['1']);
  });

  test('asks ten times a second at most, after a burst of as many', async () => {
    for (let index = 0; index < 24; index += 1) push(`shop/r${index}`, 'a', '1');
    const startedAt = performance.now();
    await openAgent().run();
    // 25 calls: ten at once, and a tenth of a second for each of the others.
    expect(performance.now() - startedAt).toBeGreaterThan(1_300);
    expect(ecr.calls).toHaveLength(25);
  });

  describe('told that a repository changed', () => {
    test('caches that repository alone, by one call', async () => {
      push('shop/cart', 'a', '1');
      push('shop/pay', 'c', '7');
      const agent = openAgent();
      await agent.run();
      push('shop/cart', 'b', '2');
      ecr.calls.length = 0;
      const { changes, events } = await agent.update('shop/cart', '2');
      expect([changes, events.map(({ detail }) => detail['tag'])]).toEqual([1, ['2']]);
      expect(await agent.readNames('shop/cart')).toEqual(['1', '2']);
      expect(ecr.calls.map(({ action }) => action)).toEqual(['DescribeImages']);
    });

    test('finds with the next run what changed after that without being told', async () => {
      push('shop/cart', 'a', '1');
      const agent = openAgent();
      const { state } = await agent.run();
      push('shop/cart', 'b', '2');
      await agent.update('shop/cart');
      ecr.repositories.get('shop/cart')?.delete(toDigest('b'));
      await agent.run(state);
      expect(await agent.readNames('shop/cart')).toEqual(['1']);
    });

    test('evicts with the next run a repository that no run ever saw', async () => {
      push('shop/cart', 'a', '1');
      const agent = openAgent();
      const { state } = await agent.run();
      push('shop/short', 'b', '1');
      await agent.update('shop/short');
      expect(await agent.readNames('shop/short')).toEqual(['1']);
      ecr.repositories.delete('shop/short');
      await agent.run(state);
      expect(await agent.readNames('shop/short')).toEqual([]);
    });

    test('evicts a repository that is gone', async () => {
      push('shop/cart', 'a', '1');
      const agent = openAgent();
      await agent.run();
      ecr.repositories.clear();
      expect(await agent.update('shop/cart')).toMatchObject({ changes: 1, events: [] });
      expect(await agent.readNames('shop/cart')).toEqual([]);
    });

    test.each([{ repositories: ['shop/pay'] }, { repositoriesRegex: 'shop/p.*' }, { skip: ['shop/cart'] }])(
      'leaves one alone that the account does not choose: %j',
      async (choice) => {
        push('shop/cart', 'a', '1');
        const agent = openAgent(choice);
        expect(await agent.update('shop/cart')).toEqual({ changes: 0, events: [] });
        expect(ecr.calls).toEqual([]);
      },
    );
  });
});
