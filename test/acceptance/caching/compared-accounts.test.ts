import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createCacheStore } from '#caching/aws/store/cache-store.ts';
import { toRevision } from '#caching/store/revision.ts';
import { createCacheWriter } from '#caching/writer/cache-writer.ts';
import { asString, getPath } from '#core/json.ts';
import { cacheTable } from '#platform/aws/tables.ts';
import { systemClock, systemRandomness } from '#platform/services/system.ts';
import { plugins } from '#providers/index.ts';
import { toWriterOptions } from '#providers/kubernetes/cache-writer/cache-model.ts';
import { createKindRegistry } from '#providers/kubernetes/kinds/index.ts';
import { decodeFacts } from '#providers/kubernetes/rows/facts-codec.ts';
import {
  awaitSome,
  type CachedWorld,
  findCache,
  listShown,
  openCachedWorld,
} from '#test/support/agents/cached-account.ts';
import { findDifferences } from '#test/support/cluster/cached-cluster.ts';
import { describeWithCluster, requestApi } from '#test/support/cluster/cluster.ts';
import { toDynamoDbOptions } from '#test/support/engines/stores.ts';

const application = 'comparedshop';

describeWithCluster('a comparison of the cache with the cluster that somebody asks for', (cluster) => {
  const stack = new AsyncDisposableStack();
  let world: CachedWorld;
  let namespace = '';

  beforeAll(async () => {
    const listOthers = (namespaces: ReadonlyMap<string, string>): object[] => {
      const common = { kubeconfigFile: cluster.kubeconfig, namespaces: [namespaces.get('edge')] };
      return [
        { ...common, name: 'turns', cacheMode: 'interval' },
        { ...common, name: 'live', cacheMode: 'stream' },
        { name: 'unread', server: { host: 'http://127.0.0.1:1' } },
      ];
    };
    world = stack.use(await openCachedWorld(['edge'], { listOthers }));
    const edge = stack.use(world.use('edge'));
    namespace = edge.namespace;
    await edge.start();
    await makeReplicaSet(namespace);
    for (const account of ['turns', 'live', 'edge']) await untilEqual(account);
  });
  afterAll(() => stack.disposeAsync());

  test.each(['turns', 'live', 'edge'])(
    'begins now, of an account that is cached by %s, and ends what a restored cluster has forgotten',
    async (account) => {
      const { system } = world;
      await storeForgotten(world, account, namespace);
      // Watches and runs tell nothing of it.
      await system.fetch(`/applications/${application}/serverGroups`, {
        headers: { 'cache-control': 'max-age=0' },
      });
      expect(await findDifferences(system, { account, namespaces: [namespace] })).toHaveLength(2);
      const listNames = () => listShown(system.url, [application, 'serverGroups']);
      expect(await listNames()).toContain('replicaSet lost');

      const answer = await system.fetch(`/credentials/${account}/compare`, { method: 'POST' });
      const begun = (await answer.json()) as { requestedAt: number };
      expect([answer.status, begun]).toMatchObject([
        202,
        { account, agents: ['KubernetesCoreCachingAgent[1/1]'], message: expect.any(String) },
      ]);
      const isOver = async (): Promise<string | undefined> => {
        const { details } = (await findCache(system, account)) ?? {};
        const [comparedAt = ''] = String(details?.['compared']).split(': ');
        return Date.parse(comparedAt) >= begun.requestedAt ? String(details?.['restored']) : undefined;
      };
      expect(await awaitSome('it is over', isOver)).toContain('replicaSet kept');
      await untilEqual(account);
      expect(await listNames()).not.toContain('replicaSet lost');
    },
  );

  test('is refused of an account that there is not, or of which nothing is cached', async () => {
    for (const [account, status] of [
      ['none', 404],
      ['unread', 409],
    ] as const) {
      const answer = await world.system.fetch(`/credentials/${account}/compare`, { method: 'POST' });
      expect([answer.status, await answer.text()]).toEqual([status, expect.stringContaining(account)]);
    }
  });

  async function untilEqual(account: string): Promise<void> {
    const isEqual = async (): Promise<true | undefined> =>
      (await findDifferences(world.system, { account, namespaces: [namespace] })).length === 0 || undefined;
    await awaitSome(`${account} is cached as the cluster is`, isEqual);
  }
});

/** Makes one whose status its controller will not change any more. */
async function makeReplicaSet(namespace: string): Promise<void> {
  const labels = { app: 'kept' };
  const template = { metadata: { labels }, spec: { containers: [{ name: 'web', image: 'nginx:1' }] } };
  const annotations = { 'moniker.spinnaker.io/application': application };
  const collection = `/apis/apps/v1/namespaces/${namespace}/replicasets`;
  await requestApi('POST', collection, {
    metadata: { name: 'kept', annotations },
    spec: { replicas: 0, selector: { matchLabels: labels }, template },
  });
  await awaitSome('its controller has seen it', async () =>
    getPath(await requestApi('GET', `${collection}/kept`), 'status', 'observedGeneration'),
  );
}

/**
 * Caches what the cluster had before its etcd was restored, and before its resource versions caught up: `kept` with five replicas, and
 * `lost`, which is not there any more.
 */
async function storeForgotten({ system }: CachedWorld, account: string, namespace: string): Promise<void> {
  const documents = new DynamoDBClient(toDynamoDbOptions(system.stores));
  const parts = { clock: systemClock, randomness: systemRandomness };
  const codecs = Object.assign({}, ...plugins.map(({ rowCodecs }) => rowCodecs));
  const cache = createCacheStore({ ...parts, documents, tableName: cacheTable.name, codecs });
  const kindRegistry = createKindRegistry([]);
  const caching = { allApplicationRelationships: false };
  const writer = createCacheWriter(
    toWriterOptions({ ...parts, cache, account: { name: account, kindRegistry, caching } }),
  );
  try {
    const [kept] = await cache.getObjects([
      { account, kind: 'replicaSet', location: namespace, name: 'kept' },
    ]);
    const facts = kept && decodeFacts(kept.readBody());
    const { epoch = 0 } = (await cache.getEpoch(account)) ?? {};
    if (facts?.workload === undefined) throw new Error('it is not cached');
    // Something else has its resource version by now.
    const later = await requestApi('POST', `/api/v1/namespaces/${namespace}/configmaps`, {
      metadata: { generateName: 'later-' },
    });
    const resourceVersion = asString(getPath(later, 'metadata', 'resourceVersion')) ?? '';
    const revision = toRevision(epoch, resourceVersion);
    const workload = { ...facts.workload, replicas: 5 };
    const changes = [
      { ...facts, resourceVersion, workload },
      { ...facts, resourceVersion, name: 'lost', uid: 'lost' },
    ].map((each) => ({
      kind: 'replicaSet',
      location: namespace,
      name: each.name,
      revision,
      seenAt: revision,
      facts: each,
    }));
    await writer.write(changes);
  } finally {
    documents.destroy();
  }
}
