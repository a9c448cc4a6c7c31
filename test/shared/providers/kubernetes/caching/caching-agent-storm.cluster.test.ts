import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { CachingResult } from '#caching/scheduling/caching-agent.ts';
import { cacheTable } from '#platform/aws/tables.ts';
import { startApiProxy } from '#test/support/cluster/api-proxy.ts';
import { createNamespace, describeWithCluster, type TestNamespace } from '#test/support/cluster/cluster.ts';
import { useLocalTables } from '#test/support/engines/local-tables.ts';
import { chooseSize } from '#test/support/run/test-size.ts';
import { stormConfigMaps } from '../watch/config-map-storm.ts';
import { type AgentBench, openAgentBench, readCached, readLive } from './caching-agent-bench.ts';

const openTable = useLocalTables();

const changes = chooseSize({ short: 150, long: 400 });
const runsLeast = chooseSize({ short: 8, long: 12 });

describeWithCluster('a caching agent that is killed again and again in a storm', (cluster) => {
  let namespace: TestNamespace;
  beforeEach(async () => {
    namespace = await createNamespace('storm');
  });
  afterEach(() => namespace[Symbol.asyncDispose]());

  /** Runs the agent; kills its worker at a random time in most cases, as a lost lease or a crash would. */
  async function runOrDie(bench: AgentBench): Promise<CachingResult | undefined> {
    const killer = new AbortController();
    const dying = Math.random() < 0.6 ? sleep(Math.random() * 1_300) : undefined;
    void dying?.then(() => killer.abort(new Error('killed')));
    try {
      return await bench.run({ signal: killer.signal, commitDies: Math.random() < 0.3 });
    } catch (error) {
      if (killer.signal.aborted || String(error).includes('killed')) return undefined;
      throw error;
    }
  }

  test.each([
    ['all namespaces at once', () => ({})],
    ['its own namespace', () => ({ namespaces: [namespace.name] })],
  ])('has cached in the end what there is, reading %s', { timeout: 120_000 }, async (_how, getAccount) => {
    let isStormy = true;
    let gets = 0;
    await using proxy = await startApiProxy(cluster, {
      getFault: () => {
        gets += 1;
        return isStormy && gets % 11 === 7 ? { type: 'reset', when: 'midst' } : undefined;
      },
    });
    await using bench = openAgentBench({
      engine: openTable(cacheTable),
      account: { kubeconfigFile: proxy.kubeconfig, kinds: ['configMap'], ...getAccount() },
      cacheSettings: { cacheAll: true },
    });
    const path = `/api/v1/namespaces/${namespace.name}/configmaps`;
    const storm = stormConfigMaps(namespace.name, changes).finally(() => {
      isStormy = false;
    });
    let runs = 0;
    while (isStormy || runs < runsLeast) {
      await Promise.all([runOrDie(bench), ...(runs % 4 === 3 ? [runOrDie(bench)] : [])]);
      runs += 1;
    }
    await storm;
    await bench.run();
    expect(await readCached(bench, 'configMap', namespace.name)).toEqual(await readLive(path));
    expect(await readLive(path)).not.toEqual([]);
    bench.clock.advance(66 * 60_000);
    expect(await bench.run()).toMatchObject({ outcome: 'done', drift: 0 });
    expect(await readCached(bench, 'configMap', namespace.name)).toEqual(await readLive(path));
  });
});
