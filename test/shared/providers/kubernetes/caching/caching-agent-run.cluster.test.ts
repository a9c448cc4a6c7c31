import { afterEach, beforeEach, expect, test } from 'vitest';
import type { JsonObject } from '#core/json.ts';
import { cacheTable } from '#platform/aws/tables.ts';
import { startApiProxy } from '#test/support/cluster/api-proxy.ts';
import {
  createNamespace,
  describeWithCluster,
  kubectl,
  requestApi,
  type TestNamespace,
} from '#test/support/cluster/cluster.ts';
import { useLocalTables } from '#test/support/engines/local-tables.ts';
import { createService, createWorkload } from '../manifests.ts';
import {
  type AgentBench,
  type AgentBenchOptions,
  openAgentBench,
  readCached,
  readLive,
} from './caching-agent-bench.ts';

const openTable = useLocalTables();

describeWithCluster('a run of a caching agent', (cluster) => {
  let namespace: TestNamespace;
  beforeEach(async () => {
    namespace = await createNamespace('agent');
  });
  afterEach(() => namespace[Symbol.asyncDispose]());

  function open(account: JsonObject = {}, options: Partial<AgentBenchOptions> = {}): AgentBench {
    const engine = openTable(cacheTable);
    return openAgentBench({
      engine,
      ...options,
      account: { kubeconfigFile: cluster.kubeconfig, ...account },
    });
  }

  const getPath = (plural: string): string =>
    `/${plural === 'services' ? 'api/v1' : 'apis/apps/v1'}/namespaces/${namespace.name}/${plural}`;
  const addService = (name: string, annotations: JsonObject = {}): Promise<unknown> =>
    requestApi('POST', getPath('services'), createService(name, { app: name }, { annotations }));
  const inNamespace = (...args: string[]): Promise<string> =>
    kubectl(['--namespace', namespace.name, ...args]);
  const readNames = async (bench: AgentBench, kind = 'service'): Promise<string[]> =>
    (await readCached(bench, kind, namespace.name)).map((found) => found.split('@')[0] ?? '');

  async function expectEqual(bench: AgentBench): Promise<void> {
    expect(await readCached(bench, 'service', namespace.name)).toEqual(await readLive(getPath('services')));
  }

  const ways = [
    { way: 'all namespaces at once', getAccount: (): JsonObject => ({}) },
    { way: 'its own namespaces', getAccount: (): JsonObject => ({ namespaces: [namespace.name] }) },
  ];

  test.each(ways)('caches $way at first, and then what changes', async ({ getAccount }) => {
    await using bench = open(getAccount());
    await addService('one');
    await addService('two');
    expect(await bench.run()).toMatchObject({ outcome: 'done', asOfMs: expect.any(Number) });
    await expectEqual(bench);

    await inNamespace('delete', 'service', 'one');
    await inNamespace('annotate', 'service', 'two', 'a=b');
    await addService('three');
    const before = Date.now();
    const result = await bench.run({ isAlone: false });
    await expectEqual(bench);
    expect(await readNames(bench)).toEqual(['three', 'two']);
    expect(result.changes).toBeGreaterThanOrEqual(3);
    expect(result.outcome).toBe('done');
    expect(result.asOfMs).toBeLessThanOrEqual(Date.now());
    // Where the machine is slow a watch does not tell that nothing more came: one of the next runs does.
    for (let { asOfMs = 0 } = result; asOfMs < before - 1000; )
      ({ asOfMs = 0 } = await bench.run({ isAlone: false }));
  });

  test.each(ways)(
    'lists anew where the resource version in $way has expired, and evicts what went meanwhile',
    async ({ getAccount }) => {
      await using bench = open(getAccount());
      await addService('one');
      await addService('two');
      await bench.run();
      await inNamespace('delete', 'service', 'one');
      await addService('three');
      for (const [name, state] of bench.states) bench.states.set(name, withPositions(state, '1'));
      expect(await bench.run()).toMatchObject({ outcome: 'done' });
      await expectEqual(bench);
      expect(await readNames(bench)).toEqual(['three', 'two']);
    },
  );

  test('lists anew when a server answers 410 to all of it', async () => {
    const expired = new Set<string>();
    await using proxy = await startApiProxy(cluster, {
      refuse: ({ path }) => (expired.delete(path) ? 410 : undefined),
    });
    await using bench = open({ kubeconfigFile: proxy.kubeconfig, namespaces: [namespace.name] });
    await addService('one');
    await bench.run();
    await inNamespace('delete', 'service', 'one');
    expired.add(getPath('services'));
    expect(await bench.run({ isAlone: false })).toMatchObject({ outcome: 'done' });
    expect(await readNames(bench)).toEqual([]);
  });

  test('does not list beside others, but what it knows to be small', async () => {
    await using bench = open({ namespaces: [namespace.name] });
    await addService('one');
    expect(await bench.run({ isAlone: false })).toMatchObject({ outcome: 'listing', changes: 0 });
    expect(await readNames(bench)).toEqual([]);
    await bench.run();
    for (const [name, state] of bench.states) bench.states.set(name, withPositions(state, '1'));
    expect(await bench.run({ isAlone: false })).toMatchObject({ outcome: 'done' });
  });

  test('keeps what its filters let through, and evicts what they do not any more', async () => {
    await using bench = open({ namespaces: [namespace.name] });
    await addService('seen');
    await addService('ignored', { 'caching.spinnaker.io/ignore': 'true' });
    await addService('managed', { 'moniker.spinnaker.io/application': 'shop' });
    await bench.run();
    expect(await readNames(bench)).toEqual(['managed', 'seen']);

    await inNamespace('annotate', 'service', 'seen', 'caching.spinnaker.io/ignore=true');
    await inNamespace('annotate', 'service', 'ignored', 'caching.spinnaker.io/ignore-');
    await bench.run();
    expect(await readNames(bench)).toEqual(['ignored', 'managed']);

    await using strict = open(
      { namespaces: [namespace.name], onlySpinnakerManaged: true },
      { before: bench },
    );
    await strict.run();
    expect(await readNames(bench)).toEqual(['managed']);

    // What was evicted by other rules is the same object still, at the same revision.
    await using again = open({ namespaces: [namespace.name] }, { before: bench });
    expect(await again.run({ isAlone: false })).toMatchObject({ outcome: 'listing' });
    await again.run();
    expect(await readNames(bench)).toEqual(['ignored', 'managed']);
  });

  test('evicts kinds and namespaces that are not to be cached any more', async () => {
    await using other = await createNamespace('agent-other');
    await using bench = open({ namespaces: [namespace.name, other.name] });
    await addService('one');
    await requestApi('POST', getPath('deployments'), createWorkload('Deployment', 'web'));
    await requestApi('POST', `/api/v1/namespaces/${other.name}/services`, createService('two', { app: 'a' }));
    await bench.run();
    expect(await readNames(bench, 'deployment')).toEqual(['web']);
    expect(await readCached(bench, 'service')).toHaveLength(2);

    await using fewer = open({ namespaces: [namespace.name], omitKinds: ['deployment'] }, { before: bench });
    await fewer.run();
    expect(await readNames(bench, 'deployment')).toEqual([]);
    expect(await readNames(bench)).toEqual(['one']);
    expect(await readCached(bench, 'service')).toHaveLength(1);

    await using again = open({ namespaces: [namespace.name] }, { before: bench });
    await again.run();
    expect(await readNames(bench, 'deployment')).toEqual(['web']);
  });

  test('caches no more of a kind than its policy lets it', async () => {
    const cachingPolicies = [{ kubernetesKind: 'service', maxEntriesPerAgent: 2 }];
    await using bench = open({ namespaces: [namespace.name], cachingPolicies });
    await Promise.all(['a', 'b', 'c'].map((name) => addService(name)));
    await bench.run();
    expect(await readNames(bench)).toEqual(['a', 'b']);
    await inNamespace('annotate', 'service', 'a', 'x=y');
    await inNamespace('annotate', 'service', 'c', 'x=y');
    await bench.run();
    expect(await readNames(bench)).toEqual(['a', 'b']);
    await inNamespace('delete', 'service', 'b');
    await inNamespace('annotate', '--overwrite', 'service', 'c', 'x=z');
    await bench.run();
    expect(await readNames(bench)).toEqual(['a', 'c']);
  });

  test('caches the names of namespaces where the account names none, and shows no application of them', async () => {
    await using bench = open({ kinds: ['service'] });
    expect(await bench.run()).toMatchObject({ details: { kinds: 2 } });
    const cached = (await readCached(bench, 'namespace')).map((found) => found.split('@')[0]);
    expect(cached).toContain(namespace.name);
    const entries = await bench.cache.listApplications();
    expect(
      entries.filter(({ account, clusters }) => account === bench.account && clusters.includes('default')),
    ).toEqual([]);
    await using named = open({ kinds: ['service'], namespaces: [namespace.name] });
    expect(await named.run()).toMatchObject({ details: { kinds: 1 } });
    expect(await readCached(named, 'namespace')).toEqual([]);
  });

  test('throws in words when the cluster cannot be reached', async () => {
    const kubeconfigContents = JSON.stringify({
      clusters: [{ name: 'c', cluster: { server: 'http://127.0.0.1:1' } }],
      users: [{ name: 'u', user: { token: 't' } }],
      contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
      'current-context': 'x',
    });
    await using bench = openAgentBench({ engine: openTable(cacheTable), account: { kubeconfigContents } });
    await expect(bench.run()).rejects.toThrow('127.0.0.1:1');
    expect(await bench.cache.getEpoch(bench.account)).toBeUndefined();
  });
});

/** A state whose scopes are all at this resource version. */
function withPositions(state: string, resourceVersion: string): string {
  return state.replaceAll(/\["\d+",/g, `["${resourceVersion}",`);
}
