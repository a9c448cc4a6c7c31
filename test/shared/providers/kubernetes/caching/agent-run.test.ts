import { afterEach, beforeEach, expect, test } from 'vitest';
import { cacheTable } from '../../../../../shared/aws/tables.ts';
import type { JsonObject } from '../../../../../shared/core/json.ts';
import {
  createNamespace,
  describeWithCluster,
  kubectl,
  requestApi,
  type TestNamespace,
} from '../../../../support/cluster.ts';
import { useLocalTables } from '../../../../support/local-tables.ts';
import { createService } from '../manifests.ts';
import {
  type AgentBench,
  type AgentBenchOptions,
  openAgentBench,
  readCached,
  readLive,
} from './agent-bench.ts';

const openTable = useLocalTables();

describeWithCluster('a run of a caching agent', (cluster) => {
  let namespace: TestNamespace;
  beforeEach(async () => {
    namespace = await createNamespace('agent');
  });
  afterEach(async () => {
    await namespace[Symbol.asyncDispose]();
  });

  function open(account: JsonObject = {}, options: Partial<AgentBenchOptions> = {}): AgentBench {
    const engine = openTable(cacheTable);
    return openAgentBench({
      engine,
      ...options,
      account: { kubeconfigFile: cluster.kubeconfig, ...account },
    });
  }

  const services = (): string => `/api/v1/namespaces/${namespace.name}/services`;

  async function expectEqual(bench: AgentBench): Promise<void> {
    expect(await readCached(bench, 'service', namespace.name)).toEqual(await readLive(services()));
  }

  test.each([
    ['all namespaces at once', () => ({})],
    ['its own namespaces', () => ({ namespaces: [namespace.name] })],
  ])('caches %s at first, and then what changes', async (_how, getAccount) => {
    await using bench = open(getAccount());
    await requestApi('POST', services(), createService('one', { app: 'one' }));
    await requestApi('POST', services(), createService('two', { app: 'two' }));
    expect(await bench.run()).toMatchObject({ outcome: 'done', asOfMs: expect.any(Number) });
    await expectEqual(bench);

    await kubectl(['--namespace', namespace.name, 'delete', 'service', 'one']);
    await kubectl(['--namespace', namespace.name, 'annotate', 'service', 'two', 'a=b']);
    await requestApi('POST', services(), createService('three', { app: 'three' }));
    const before = Date.now();
    const result = await bench.run({ isAlone: false });
    await expectEqual(bench);
    expect(await readCached(bench, 'service', namespace.name)).toHaveLength(2);
    expect(result.changes).toBeGreaterThanOrEqual(3);
    expect(result.outcome).toBe('done');
    expect(result.asOfMs).toBeGreaterThanOrEqual(before - 1000);
  });
});
