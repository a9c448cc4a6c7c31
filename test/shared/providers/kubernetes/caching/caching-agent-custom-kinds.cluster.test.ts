import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { cacheTable } from '#platform/aws/tables.ts';
import {
  createNamespace,
  describeWithCluster,
  findObject,
  requestApi,
  type TestNamespace,
} from '#test/support/cluster/cluster.ts';
import { useLocalTables } from '#test/support/engines/local-tables.ts';
import { defineTrams, definitions } from '../live.ts';
import { agentNames, openAgentBench, readCached, readLive } from './caching-agent-bench.ts';

const openTable = useLocalTables();

describeWithCluster('the caching agent of custom kinds', (cluster) => {
  let namespace: TestNamespace;
  let group: string;
  beforeEach(async () => {
    namespace = await createNamespace('agent');
    group = `${randomBytes(4).toString('hex')}.example.com`;
  });
  afterEach(async () => {
    await requestApi('DELETE', `${definitions}/trams.${group}`).catch(() => undefined);
    await namespace[Symbol.asyncDispose]();
  });

  const getTrams = (): string => `/apis/${group}/v1/namespaces/${namespace.name}/trams`;
  const account = { kubeconfigFile: cluster.kubeconfig };

  async function define(): Promise<void> {
    await defineTrams(group);
    await expect.poll(() => findObject(getTrams())).toBeDefined();
  }

  const add = (name: string): Promise<unknown> =>
    requestApi('POST', getTrams(), { apiVersion: `${group}/v1`, kind: 'Tram', metadata: { name } });

  test('is there only where the settings can choose any', async () => {
    const engine = openTable(cacheTable);
    const customResources = [{ kubernetesKind: `Tram.${group}`, spinnakerKind: 'serverGroups' }];
    const unshown = [{ kubernetesKind: `Tram.${group}` }];
    for (const { members = {}, cacheSettings = {}, names } of [
      { names: [agentNames.core] },
      { members: { customResources: unshown }, names: [agentNames.core] },
      { members: { customResources }, names: [agentNames.core, agentNames.custom] },
      { cacheSettings: { cacheAll: true }, names: [agentNames.core, agentNames.custom] },
      {
        cacheSettings: { cacheKinds: ['pod', `Tram.${group}`] },
        names: [agentNames.core, agentNames.custom],
      },
      { cacheSettings: { cacheKinds: ['pod'] }, names: [agentNames.core] },
      { cacheSettings: { enabled: false, cacheAll: true }, names: [] },
    ]) {
      await using bench = openAgentBench({ engine, account: { ...account, ...members }, cacheSettings });
      expect((await bench.loadAgents()).map(({ name }) => name)).toEqual(names);
    }
  });

  test('lists a kind with the next run after its definition came, and evicts it after that went', async () => {
    await using bench = openAgentBench({
      engine: openTable(cacheTable),
      account: { ...account, namespaces: [namespace.name] },
      cacheSettings: { cacheKinds: [`tram.${group}`] },
    });
    const { custom: agent } = agentNames;
    expect(await bench.run({ agent })).toMatchObject({ outcome: 'done', details: { kinds: 0 } });
    await define();
    await add('one');
    await add('two');
    expect(await bench.run({ agent, isAlone: false })).toMatchObject({ outcome: 'listing' });
    expect(await bench.run({ agent })).toMatchObject({ details: { kinds: 1 }, items: 2, changes: 2 });
    expect(await readCached(bench, `Tram.${group}`)).toEqual(await readLive(getTrams()));
    await requestApi('DELETE', `${getTrams()}/one`);
    await bench.run({ agent });
    expect(await readCached(bench, `Tram.${group}`)).toEqual(await readLive(getTrams()));

    await requestApi('DELETE', `${definitions}/trams.${group}`);
    await expect.poll(() => findObject(getTrams()), { timeout: 30_000 }).toBeUndefined();
    await expect
      .poll(async () => (await bench.run({ agent })).details, { timeout: 30_000 })
      .toMatchObject({ kinds: 0 });
    expect(await readCached(bench, `Tram.${group}`)).toEqual([]);
    const { kinds } = JSON.parse(bench.states.get(agent) ?? '');
    expect(kinds).toEqual({});
  });

  test('leaves what it cached to the other agent when no custom kind is wanted any more', async () => {
    await define();
    await add('one');
    const members = { ...account, namespaces: [namespace.name] };
    const engine = openTable(cacheTable);
    await using bench = openAgentBench({
      engine,
      account: members,
      cacheSettings: { cacheKinds: [`Tram.${group}`] },
    });
    await bench.run();
    await bench.run({ agent: agentNames.custom });
    expect(await readCached(bench, `Tram.${group}`)).toHaveLength(1);

    await using without = openAgentBench({ engine, account: members, before: bench });
    await without.run();
    expect(await readCached(bench, `Tram.${group}`)).toEqual([]);

    // The other agent is a new one then, without a state; what was evicted comes back all the same.
    bench.states.delete(agentNames.custom);
    await using again = openAgentBench({
      engine,
      account: members,
      cacheSettings: { cacheKinds: [`Tram.${group}`] },
      before: bench,
    });
    await again.run();
    await again.run({ agent: agentNames.custom });
    expect(await readCached(bench, `Tram.${group}`)).toHaveLength(1);
  });
});
