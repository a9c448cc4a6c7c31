import { join } from 'node:path';
import { expect, it } from 'vitest';
import { listLive } from '#test/acceptance/tasks/faults/effects.ts';
import { startApiProxy } from '#test/support/cluster/api-proxy.ts';
import { createNamespace, describeWithCluster } from '#test/support/cluster/cluster.ts';
import { createRandom } from '#test/support/run/seeded-random.ts';
import { chooseSize } from '#test/support/run/test-size.ts';
import { startSystem } from '#test/support/system/system.ts';
import { describeFailure } from './audit.ts';
import { type Chain, drawChains, listChainSorts, withRelease } from './chains.ts';
import { OrcaCaller } from './orca-caller.ts';

const seed = Number(process.env['LAB_SEED'] ?? 1);
const operations = chooseSize({ short: 12, long: 150 });
/**
 * Operations of a chain that come one after the other, at most: each may wait for a lease to lapse, or for the sweeper. The laboratory plays
 * the longer ones.
 */
const turnsMax = chooseSize({ short: 1, long: Number.POSITIVE_INFINITY });

describeWithCluster('npm start while calls of its own engines go wrong', (cluster) => {
  it(`completes ${operations} operations, each once (seed ${seed})`, async () => {
    await using namespace = await createNamespace('direct');
    await using proxy = await startApiProxy(cluster);
    const account = { name: 'test', kubeconfigFile: proxy.kubeconfig, namespaces: [namespace.name] };
    const settings = { kubernetes: { enabled: true, accounts: [account] } };
    await using system = await startSystem({
      settings,
      preload: [join(import.meta.dirname, 'fault-engines.ts')],
      env: { LAB_SEED: String(seed) },
    });
    const place = { namespace: namespace.name, name: '' };
    const sorts = listChainSorts('no secret').filter(
      ({ isConcurrent, listOperations }) => isConcurrent || listOperations(place).length <= turnsMax,
    );
    const chains = drawChains(sorts, { seed, operations, namespace: namespace.name });
    for (const { sort, place } of chains) await sort.arrange(place);
    const caller = new OrcaCaller({
      getUrls: () => [system.url],
      random: createRandom(seed),
      signal: AbortSignal.timeout(360_000),
    });

    process.kill(system.pid, 'SIGUSR2');
    const problems = (
      await Promise.all(chains.map((chain) => withRelease(chain, 3_000, () => play(chain, caller))))
    ).flat();
    process.kill(system.pid, 'SIGUSR2');

    expect(problems).toEqual([]);
    expect(caller.wrongs).toEqual([]);
    const live = await listLive(namespace.name);
    const outcome = { isDone: true, live, calls: proxy.calls };
    expect(chains.flatMap(({ sort, place }) => sort.findWrongs(place, outcome))).toEqual([]);
    await expect.poll(() => system.stderr).toMatch(/^faults: \[\[/m);
    const [, counts = '[]'] = /^faults: (.*)$/m.exec(system.stderr) ?? [];
    const injected = (JSON.parse(counts) as [string, number][]).reduce((sum, [, count]) => sum + count, 0);
    expect(injected).toBeGreaterThan(operations / 2);
  }, 400_000);
});

/** Posts the operations of a chain one after the other. @returns what went wrong, in words */
async function play(chain: Chain, caller: OrcaCaller): Promise<string[]> {
  const problems: string[] = [];
  const playOne = async (index: number): Promise<void> => {
    const id = await caller.post(chain.operations.slice(index, index + 1), `${chain.place.name}-${index}`);
    const task = id === undefined ? undefined : await caller.awaitEnd(id);
    if (task?.status.failed === false) return;
    problems.push(
      `${chain.place.name}, operation ${index}: ${task ? describeFailure(task) : 'it did not end'}`,
    );
  };
  const indices = [...chain.operations.keys()];
  if (chain.sort.isConcurrent) await Promise.all(indices.map(playOne));
  else for (const index of indices) await playOne(index);
  return problems;
}
