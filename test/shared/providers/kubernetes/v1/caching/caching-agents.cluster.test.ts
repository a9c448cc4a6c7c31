import { afterAll, expect, test } from 'vitest';
import { createCacheStore } from '#caching/aws/store/cache-store.ts';
import { getPath, type JsonObject } from '#core/json.ts';
import { cacheTable } from '#platform/aws/tables.ts';
import { systemClock, systemRandomness } from '#platform/services/system.ts';
import type { Provider } from '#provider-kit/provider.ts';
import { kubernetesPlugin } from '#providers/kubernetes/index.ts';
import { wholeObjectBytesMax } from '#providers/kubernetes/rows/to-v1-facts.ts';
import { v1CachingAgentName } from '#providers/kubernetes/v1/caching/caching-agents.ts';
import { endedJobMs, sweepIntervalMs } from '#providers/kubernetes/v1/caching/ended-jobs.ts';
import { newAccount } from '#test/contracts/cache-bench.ts';
import { createNamespace, describeWithCluster, requestApi } from '#test/support/cluster/cluster.ts';
import { useLocalTables } from '#test/support/engines/local-tables.ts';
import { toSet } from '#test/support/providers/provider-set.ts';
import { openViewSet } from '#views/view-set.ts';
import { findLive, listNames } from '../../live.ts';
import { runOperation } from '../../operations/task-run.ts';
import { getOperation, openProvider } from '../../provider-setup.ts';

const value = 'planted-s3cr3t';

describeWithCluster('a V1 account in the cache', (cluster) => {
  const openTable = useLocalTables();
  const providers: Provider[] = [];
  afterAll(() => Promise.all(providers.map((provider) => provider[Symbol.asyncDispose]())));

  /** A provider with one V1 account, whose agent runs when it is told to. */
  async function open(namespace: string) {
    const { openDocuments, tableName } = openTable(cacheTable);
    const clock = { ...systemClock, offsetMs: 0 };
    const parts = { clock: systemClock, randomness: systemRandomness };
    const codecs = kubernetesPlugin.rowCodecs ?? {};
    const cache = createCacheStore({ documents: openDocuments(), tableName, ...parts, codecs });
    const account = newAccount();
    await cache.raiseEpoch(account, { epoch: 1, identity: '' });
    const fields = {
      name: account,
      providerVersion: 'v1',
      kubeconfigFile: cluster.kubeconfig,
      namespaces: [namespace],
      configureImagePullSecrets: false,
      dockerRegistries: [{ accountName: 'hub' }],
    };
    const provider = openProvider([fields], {
      cache,
      clock: {
        now: () => systemClock.now() + clock.offsetMs,
        monotonic: () => systemClock.monotonic() + clock.offsetMs,
      },
    });
    providers.push(provider);
    const views = await openViewSet(toSet(provider).clouds, cache, () => true);
    const agents = await toSet(provider).loadCachingAgents();
    const agent = agents.find(({ name }) => name === v1CachingAgentName);
    const { signal } = new AbortController();
    const listServerGroups = async (): Promise<unknown> =>
      (await views.listServerGroups({ applications: ['kub'], expand: false })).value;
    return {
      ...{ account, cache, clock, views, listServerGroups },
      run: (name: string, description: JsonObject) =>
        runOperation(getOperation(provider, name), { account, namespace, ...description }),
      runAgent: () =>
        agent?.run({
          ...{ cache, state: undefined, isAlone: true, signal },
          ensureHeld: () => undefined,
          commitState: async () => undefined,
        }),
    };
  }

  const containers = [{ name: 'web', imageDescription: { uri: 'registry.test/web:1' } }];

  test('has what an operation wrote as soon as that has ended, without its agent', async () => {
    await using ns = await createNamespace();
    const { run, listServerGroups } = await open(ns.name);
    const create = { application: 'kub', targetSize: 0, containers, kind: 'ReplicationController' };
    await run('createServerGroup', create);
    expect(await listServerGroups()).toMatchObject([{ name: 'kub-v000', capacity: { desired: 0 } }]);
    await run('resizeServerGroup', { serverGroupName: 'kub-v000', capacity: { desired: 1 } });
    expect(await listServerGroups()).toMatchObject([{ name: 'kub-v000', capacity: { desired: 1 } }]);
    await run('destroyServerGroup', { serverGroupName: 'kub-v000' });
    expect(await listServerGroups()).toEqual([]);
  }, 120_000);

  test('keeps of a Secret its name, and of what is too large all but the whole', async () => {
    await using ns = await createNamespace();
    const target = `/api/v1/namespaces/${ns.name}`;
    const annotations = { 'kubectl.kubernetes.io/last-applied-configuration': value };
    const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'keys', annotations } };
    await requestApi('POST', `${target}/secrets`, { ...secret, stringData: { password: value } });
    const env = [{ name: 'LARGE', value: 'x'.repeat(wholeObjectBytesMax) }];
    const template = {
      metadata: { labels: { app: 'kub' } },
      spec: { containers: [{ name: 'web', image: 'registry.test/web:1', env }] },
    };
    const metadata = { name: 'kub-large-v000' };
    const spec = { replicas: 0, selector: { app: 'kub' }, template };
    const large = { apiVersion: 'v1', kind: 'ReplicationController', metadata, spec };
    await requestApi('POST', `${target}/replicationcontrollers`, large);
    const { account, cache, views, runAgent, listServerGroups } = await open(ns.name);
    const result = await runAgent();
    expect(result).toMatchObject({ outcome: 'done', details: { kinds: 12 } });
    expect(result?.error).toBeUndefined();
    const [found] = await cache.getObjects([{ account, kind: 'secret', location: ns.name, name: 'keys' }]);
    expect(found?.readBody()).toContain('keys');
    const encoded = Buffer.from(value).toString('base64');
    for (const text of [value, encoded]) expect(found?.readBody()).not.toContain(text);
    expect(await listServerGroups()).toMatchObject([{ name: 'kub-large-v000', cluster: 'kub-large' }]);
    const key = { account, location: ns.name, name: 'kub-large-v000' };
    const whole = await views.findServerGroup(key);
    expect(whole?.value).toMatchObject({ name: 'kub-large-v000', deployDescription: {} });
    expect(whole?.value).not.toHaveProperty('yaml');
  }, 120_000);

  test('loses a job an hour after its end, and no pod that is none of its jobs', async () => {
    await using ns = await createNamespace();
    const { run, runAgent, clock } = await open(ns.name);
    const outcome = { 'kubecluster.test/outcome': 'succeed' };
    await run('runJob', { application: 'kub', stack: 'job', annotations: outcome, containers });
    const metadata = { name: 'kub-other', annotations: outcome };
    const spec = { restartPolicy: 'Never', containers: [{ name: 'web', image: 'registry.test/web:1' }] };
    const other = { apiVersion: 'v1', kind: 'Pod', metadata, spec };
    await requestApi('POST', `/api/v1/namespaces/${ns.name}/pods`, other);
    const names = await listNames(ns.name, 'pods');
    expect(names).toHaveLength(2);
    const readPhases = async () => {
      const pods = await Promise.all(names.map((name) => findLive(ns.name, `pods/${name}`)));
      return pods.map((pod) => getPath(pod, 'status', 'phase'));
    };
    await expect.poll(readPhases, { timeout: 60_000 }).toEqual(['Succeeded', 'Succeeded']);
    clock.offsetMs = endedJobMs - 120_000;
    await runAgent();
    expect(await listNames(ns.name, 'pods')).toEqual(names);
    clock.offsetMs = endedJobMs + sweepIntervalMs;
    await runAgent();
    await expect.poll(() => listNames(ns.name, 'pods'), { timeout: 60_000 }).toEqual(['kub-other']);
  }, 180_000);
});
