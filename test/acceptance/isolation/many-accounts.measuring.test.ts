import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import type { AgentView } from '#contract/answers/cache.ts';
import { startApiProxy } from '#test/support/cluster/api-proxy.ts';
import { createNamespace, describeWithCluster, requestApi } from '#test/support/cluster/cluster.ts';
import { chooseSize } from '#test/support/run/test-size.ts';
import { itLocally } from '#test/support/system/subject.ts';
import { type System, startSystem } from '#test/support/system/system.ts';

const healthyCount = chooseSize({ short: 15, long: 45 });
const sickKinds = ['hangs', 'hangs', 'errors', 'errors', 'breaks'] as const;
const intervalSeconds = 10;
/** Intervals that are watched once all is filled. */
const intervalsWatched = chooseSize({ short: 4, long: 5 });
const filledWithinMs = 120_000;

describeWithCluster(`${healthyCount + sickKinds.length} accounts of which five are sick`, (cluster) => {
  itLocally('the intervals there are those of one emulator')(
    'keep the interval of the healthy ones, and show what ails the sick',
    async () => {
      await using namespace = await createNamespace('many');
      await using hangs = await startApiProxy(cluster, {
        getFault: () => ({ type: 'latency', ms: 3_600_000 }),
      });
      await using errors = await startApiProxy(cluster, { refuse: () => 500 });
      await using breaks = await startApiProxy(cluster, {
        getFault: () => ({ type: 'reset', when: 'before' }),
      });
      const common = {
        namespaces: [namespace.name],
        cacheMode: 'interval',
        cacheIntervalSeconds: intervalSeconds,
      };
      const proxies = { hangs, errors, breaks };
      const healthy = Array.from({ length: healthyCount }, (_, index) => `healthy-${index}`);
      const sick = sickKinds.map((kind, index) => ({ name: `${kind}-${index}`, proxy: proxies[kind] }));
      const accounts = [
        ...healthy.map((name) => ({ ...common, name, kubeconfigFile: cluster.kubeconfig })),
        ...sick.map(({ name, proxy }) => ({ ...common, name, kubeconfigFile: proxy.kubeconfig })),
      ];
      await using system = await startSystem({ settings: { kubernetes: { enabled: true, accounts } } });
      await waitUntilFilled(system, healthy);

      const runs = await watchRuns(system, healthy, intervalsWatched * intervalSeconds * 1000);
      const service = {
        spec: { ports: [{ port: 80 }] },
        metadata: { name: 'late', labels: { app: 'late' } },
      };
      await requestApi('POST', `/api/v1/namespaces/${namespace.name}/services`, service);
      await expect.poll(() => countFinds(system, 'service late'), { interval: 500 }).toBe(healthyCount);

      for (const [name, starts] of runs) {
        const gaps = starts.slice(1).map((start, index) => start - (starts[index] ?? 0));
        expect(starts.length, `runs of ${name}`).toBeGreaterThanOrEqual(intervalsWatched - 2);
        const middle = gaps.toSorted((one, other) => one - other)[Math.floor(gaps.length / 2)];
        // Turns are taken in their own time; an account that is held up misses them one after the other.
        expect(middle, `gaps of ${name}: ${gaps}`).toBeLessThan(2 * intervalSeconds * 1000);
        // On a machine that stands still for a moment a turn is missed, and the next one comes in time.
        expect(Math.max(...gaps), `gaps of ${name}: ${gaps}`).toBeLessThan(4 * intervalSeconds * 1000);
      }
      const views = await readAgents(system);
      for (const { name } of sick) {
        const [agent] = views.filter(({ account }) => account === name);
        expect(agent, name).toMatchObject({ isStale: true, failures: expect.any(Number) });
        expect(agent?.failures, name).toBeGreaterThan(0);
        expect(agent?.lastError, name).toMatch(/no answer|500|InternalError|connection|socket|time/i);
      }
      expect((await system.fetch('/health')).status).toBe(200);
    },
  );
});

/** What is told of the agents: nothing for the moment in which there is too much at once. */
async function readAgents(system: System): Promise<readonly AgentView[]> {
  const answer = await system.fetch('/cache/introspection');
  const told = await answer.json();
  return answer.status === 503 ? [] : (told as AgentView[]);
}

async function waitUntilFilled(system: System, accounts: readonly string[]): Promise<void> {
  const deadline = performance.now() + filledWithinMs;
  for (;;) {
    const filled = new Set(
      (await readAgents(system)).filter(({ asOf }) => asOf !== undefined).map(({ account }) => account),
    );
    const missing = accounts.filter((account) => !filled.has(account));
    if (missing.length === 0) return;
    if (performance.now() > deadline) throw new Error(`never filled: ${missing}`);
    await sleep(500);
  }
}

/** When the runs began that each account's agent ended meanwhile. */
async function watchRuns(
  system: System,
  accounts: readonly string[],
  durationMs: number,
): Promise<Map<string, number[]>> {
  const runs = new Map(accounts.map((account) => [account, new Set<number>()]));
  const deadline = performance.now() + durationMs;
  while (performance.now() < deadline) {
    for (const { account, lastRun } of await readAgents(system)) {
      if (lastRun !== undefined) runs.get(account)?.add(lastRun.started);
    }
    await sleep(500);
  }
  return new Map(
    [...runs].map(([account, starts]) => [account, [...starts].sort((one, other) => one - other)]),
  );
}

async function countFinds(system: System, name: string): Promise<number> {
  const answer = await system.fetch('/search?q=late&type=loadBalancers&platform=kubernetes');
  const [page] = (await answer.json()) as { readonly results: readonly { readonly name: string }[] }[];
  return page?.results.filter((found) => found.name === name).length ?? 0;
}
