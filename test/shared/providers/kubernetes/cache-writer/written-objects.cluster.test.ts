import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { afterAll, expect, test } from 'vitest';
import { createCacheStore } from '#caching/aws/store/cache-store.ts';
import type { CacheStore } from '#caching/store/cache-store.ts';
import type { JsonObject } from '#core/json.ts';
import { cacheTable } from '#platform/aws/tables.ts';
import { systemClock, systemRandomness } from '#platform/services/system.ts';
import type { Provider } from '#provider-kit/provider.ts';
import { kubernetesPlugin } from '#providers/kubernetes/index.ts';
import { newAccount } from '#test/contracts/cache-bench.ts';
import { startApiProxy } from '#test/support/cluster/api-proxy.ts';
import { createNamespace, describeWithCluster } from '#test/support/cluster/cluster.ts';
import { localClientOptions } from '#test/support/engines/local-aws-client.ts';
import { useLocalTables } from '#test/support/engines/local-tables.ts';
import { toSet } from '#test/support/providers/provider-set.ts';
import { openViewSet } from '#views/view-set.ts';
import type { ViewReader } from '#views/views.ts';
import { createWorkload } from '../manifests.ts';
import { runOperation } from '../operations/task-run.ts';
import { getOperation, openProvider } from '../provider-setup.ts';

describeWithCluster('what an operation wrote', (cluster) => {
  const openTable = useLocalTables();
  const providers: Provider[] = [];
  afterAll(() => Promise.all(providers.map((provider) => provider[Symbol.asyncDispose]())));

  /** A provider with one account, whose cache an agent filled before unless it is said otherwise. */
  async function open({ isFilled = true, caching = {}, kubeconfig = cluster.kubeconfig } = {}) {
    const { openDocuments, tableName } = openTable(cacheTable);
    const cache: CacheStore = createCacheStore({
      documents: openDocuments(),
      tableName,
      clock: systemClock,
      randomness: systemRandomness,
      codecs: kubernetesPlugin.rowCodecs ?? {},
    });
    const account = newAccount();
    if (isFilled) await cache.raiseEpoch(account, { epoch: 1, identity: '' });
    const provider = openProvider([{ name: account, kubeconfigFile: kubeconfig, ...caching }], { cache });
    providers.push(provider);
    const run = (name: string, description: JsonObject): Promise<unknown> =>
      runOperation(getOperation(provider, name), { account, ...description });
    const views = await openViewSet(toSet(provider).clouds, cache, () => true);
    return { account, cache, run, views };
  }

  const listNames = async (views: ViewReader, application: string): Promise<unknown[]> => {
    const { value } = await views.listServerGroupManagers(application);
    return value.map((view) => (view as { name: string }).name);
  };

  const toDeploy = (namespace: string, application: string): JsonObject => ({
    moniker: { app: application },
    source: 'text',
    manifests: [
      { ...createWorkload('Deployment', 'web', { replicas: 0 }), metadata: { name: 'web', namespace } },
    ],
  });

  test('is shown as soon as it has ended, and gone as soon as it is deleted', async () => {
    await using ns = await createNamespace();
    const { run, views } = await open();
    await run('deployManifest', toDeploy(ns.name, ns.name));
    expect(await listNames(views, ns.name)).toEqual(['deployment web']);
    const { value: applications } = await views.listApplications();
    expect(applications.map(({ application }) => application)).toContain(ns.name);
    await run('deleteManifest', { manifestName: 'deployment web', location: ns.name, options: {} });
    expect(await listNames(views, ns.name)).toEqual([]);
  });

  test('shows a new size at once', async () => {
    await using ns = await createNamespace();
    const { run, views, account } = await open();
    const set = createWorkload('ReplicaSet', 'web', { replicas: 0 });
    const manifests = [{ ...set, metadata: { name: 'web', namespace: ns.name } }];
    const annotations = { 'strategy.spinnaker.io/versioned': 'false' };
    const deploy = {
      moniker: { app: ns.name },
      source: 'text',
      manifests: manifests.map((each) => ({ ...each, metadata: { ...each.metadata, annotations } })),
    };
    await run('deployManifest', deploy);
    await run('scaleManifest', { manifestName: 'replicaSet web', location: ns.name, replicas: 3 });
    const found = await views.findServerGroup({ account, location: ns.name, name: 'replicaSet web' });
    expect(found?.value).toMatchObject({ capacity: { desired: 3 } });
  });

  test('is left to the first run of the agent where nothing was cached yet', async () => {
    await using ns = await createNamespace();
    const { run, views } = await open({ isFilled: false });
    await run('deployManifest', toDeploy(ns.name, ns.name));
    expect(await listNames(views, ns.name)).toEqual([]);
  });

  test('is not shown where the account does not cache it', async () => {
    await using ns = await createNamespace();
    const { run, cache, account } = await open({ caching: { omitKinds: ['deployment'] } });
    await run('deployManifest', toDeploy(ns.name, ns.name));
    expect(await cache.listKinds(account)).toEqual([]);
  });

  test('costs no call of the API server', async () => {
    await using ns = await createNamespace();
    await using proxy = await startApiProxy(cluster);
    const { run } = await open({ kubeconfig: proxy.kubeconfig });
    await run('deployManifest', toDeploy(ns.name, ns.name));
    expect(proxy.calls.map(({ method }) => method)).toEqual(['GET', 'POST']);
  });

  test('fails nothing when the cache is away', async () => {
    await using ns = await createNamespace();
    const client = new DynamoDBClient({
      ...localClientOptions,
      endpoint: 'http://127.0.0.1:1',
      maxAttempts: 1,
    });
    const away = createCacheStore({
      documents: client,
      tableName: cacheTable.name,
      clock: systemClock,
      randomness: systemRandomness,
    });
    const account = newAccount();
    const provider = openProvider([{ name: account, kubeconfigFile: cluster.kubeconfig }], { cache: away });
    providers.push(provider);
    const deploy = { account, ...toDeploy(ns.name, ns.name) };
    const result = await runOperation(getOperation(provider, 'deployManifest'), deploy);
    expect(result).toMatchObject({ manifestNamesByNamespace: { [ns.name]: ['deployment web'] } });
  });
});
