import { expect, test, vi } from 'vitest';
import { createCacheStore } from '#caching/aws/store/cache-store.ts';
import { createAws } from '#platform/aws/identity/aws-access.ts';
import { cacheTable } from '#platform/aws/tables.ts';
import { systemClock, systemRandomness } from '#platform/services/system.ts';
import { CachedRepositories } from '#providers/docker-registry/cached-repositories.ts';
import { readChunks } from '#providers/docker-registry/cached-tags.ts';
import { runImageCachingAgent } from '#providers/docker-registry/image-platform.ts';
import { ecrRegion, ecrRegistryId, startEcr } from '#test/support/artifacts/ecr.ts';
import {
  describeWithRegistry,
  pushImage,
  registryPassword,
  registryUser,
  startRegistry,
} from '#test/support/artifacts/registry.ts';
import { startAwsEndpoints } from '#test/support/engines/aws-endpoints.ts';
import { useLocalTables } from '#test/support/engines/local-tables.ts';
import { makeTempDir } from '#test/support/run/temp-dir.ts';
import { openClient, parseAccount } from './test-account.ts';

/** Building a registry may take this long. */
const startTimeoutMs = 600_000;

describeWithRegistry('labels of images in ECR', () => {
  const openTable = useLocalTables();

  test(
    'are read from the registry itself, by a token of ECR',
    async () => {
      await using stack = new AsyncDisposableStack();
      const folder = stack.use(await makeTempDir());
      stack.use(await startAwsEndpoints(folder.path));
      const ecr = stack.use(await startEcr());
      stack.defer(() => void vi.unstubAllEnvs());
      const open = stack.use(await startRegistry());
      const registry = stack.use(await startRegistry({ auth: { scheme: 'basic' }, storage: open.storage }));
      const image = { labels: { buildNumber: '7' }, created: '2026-01-01T00:00:00Z' };
      const digest = await pushImage(open.url, { repository: 'shop/cart', tags: ['1'], image });
      const pushedAtMs = Date.parse('2026-03-04T05:06:07.000Z');
      ecr.repositories.set('shop/cart', new Map([[digest, { tags: ['1'], pushedAtMs }]]));
      ecr.token = `${registryUser}:${registryPassword}`;

      const options = { registryId: ecrRegistryId, region: ecrRegion };
      const given = { name: 'ecr', address: registry.url, inspectDigests: true, ecr: options };
      const environment = { AWS_ENDPOINT_URL_ECR: ecr.url };
      const openAws = async () => createAws({ clock: systemClock, environment });
      const { client, listing } = stack.use(openClient(given, { services: { openAws } }));
      const { tableName, openDocuments } = openTable(cacheTable);
      const parts = { documents: openDocuments(), tableName, randomness: systemRandomness, codecs: {} };
      const cache = createCacheStore({ ...parts, clock: systemClock });
      const { signal } = new AbortController();
      const run = { cache, isAlone: true, signal, ensureHeld() {}, async commitState() {} };
      const agent = {
        account: parseAccount(given),
        client,
        listing,
        clock: systemClock,
        randomness: systemRandomness,
        kind: 'repository',
      } as const;
      const { state } = await runImageCachingAgent(agent, { ...run, state: undefined });

      const cached = new CachedRepositories(cache, { account: 'ecr', kind: 'repository' });
      const created = '2026-03-04T05:06:07.000Z';
      expect(readChunks(await cached.load('shop/cart', 1))).toEqual([
        { name: '1', digest, created, labels: { buildNumber: '7' } },
      ]);
      // Another tag of an image that is known costs no request to the registry, and so no token.
      ecr.repositories.set('shop/cart', new Map([[digest, { tags: ['1', '2'], pushedAtMs }]]));
      await registry[Symbol.asyncDispose]();
      await runImageCachingAgent(agent, { ...run, state });
      expect(readChunks(await cached.load('shop/cart', 1))).toMatchObject([
        { name: '1' },
        { labels: { buildNumber: '7' } },
      ]);
      expect(ecr.countCalls('GetAuthorizationToken')).toBe(1);
    },
    startTimeoutMs,
  );
});
