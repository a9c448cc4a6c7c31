import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { streamLeaseMs } from '#caching/scheduling/streams/stream-worker.ts';
import { leaseDurationMs } from '#tasks/task.ts';
import type { AgentProcess } from '#test/support/agents/agent-process.ts';
import { type CachedWorld, openCachedWorld } from '#test/support/agents/cached-account.ts';
import { type PassingCall, startApiProxy } from '#test/support/cluster/api-proxy.ts';
import { createNamespace, describeWithCluster } from '#test/support/cluster/cluster.ts';
import { chooseSize } from '#test/support/run/test-size.ts';
import { rageStorm } from '../caching/storm/storm.ts';
import { awaitDeploy, expectEachOnce, postDeploy } from './drills/deploys.ts';
import { startLink } from './drills/link.ts';

/** Seconds without a network: within a lease, past it, and past all that anybody waits for. */
const listLengths = (leaseMs: number): readonly number[] => {
  const past = leaseMs / 1_000 + 5;
  return chooseSize({ short: [5, past], long: [5, past, 600] });
};
const lengths = { deploy: listLengths(leaseDurationMs), cache: listLengths(streamLeaseMs) };

const taskMs = 120_000;
const testMs = (Math.max(...lengths.cache) + 300) * 1_000;

describeWithCluster('an agent without a network', (cluster) => {
  const stack = new AsyncDisposableStack();
  let world: CachedWorld;
  let port: number;
  beforeAll(async () => {
    const names = lengths.cache.map((seconds) => `cached-${seconds}`);
    const uncached = lengths.deploy.map((seconds) => `deploys-${seconds}`);
    world = stack.use(await openCachedWorld(names, { uncached }));
    port = Number(new URL(world.system.url).port);
  }, testMs);
  afterAll(() => stack.disposeAsync());

  test.concurrent.each(lengths.deploy)(
    'for %d s in the midst of a deploy: each object is there once, and the agent comes back by itself',
    async (seconds) => {
      const { system } = world;
      await using agents = new AsyncDisposableStack();
      const account = `deploys-${seconds}`;
      const namespace = agents.use(await createNamespace('parted'));
      const link = agents.use(await startLink(port));
      let writes = 0;
      const parted = Promise.withResolvers<void>();
      const proxy = agents.use(
        await startApiProxy(cluster, {
          async before({ method, path: target }) {
            if (method === 'GET' || !target.includes(namespace.name)) return;
            writes += 1;
            if (writes !== 3) return;
            link.part();
            parted.resolve();
          },
        }),
      );
      const start = async (url: string): Promise<AgentProcess> =>
        agents.use(await world.start(account, proxy.kubeconfig, { url }));
      await start(link.url);
      const deploy = (name: string) => postDeploy(system, { account, namespace: namespace.name, name });
      const first = await deploy('first');
      await parted.promise;
      const healed = sleep(seconds * 1_000).then(() => link.heal());
      const other = await start(system.url);
      const { task } = await awaitDeploy(system, first, taskMs);
      expect(task.status.failed).toBe(false);

      await healed;
      // The one that was cut off has it alone now.
      await other.kill('SIGTERM');
      const second = await deploy('second');
      const { task: later } = await awaitDeploy(system, second, taskMs);
      expect(later.status.failed).toBe(false);
      await expectEachOnce([first, second], proxy.calls);
    },
    testMs,
  );

  test.concurrent.each(lengths.cache)(
    'for %d s while objects change: what it keeps cached equals the cluster again, and is not listed anew',
    async (seconds) => {
      await using account = world.use(`cached-${seconds}`);
      await using link = await startLink(port);
      const listed: string[] = [];
      const forgotten = new Set<string>();
      await using proxy = await startApiProxy(cluster, {
        async before(call) {
          if (isList(call)) listed.push(call.path);
        },
        onPart(call, part) {
          if (part.includes('"code":410')) forgotten.add(call.path);
        },
      });
      const agent = await account.start({ url: link.url, kubeConfigFile: proxy.kubeconfig });
      await account.untilCached();
      expect(listed).not.toEqual([]);
      listed.length = 0;
      link.part();
      const parted = sleep(seconds * 1_000);
      const storm = await rageStorm({ namespaces: [account.namespace], changes: 60 }).ended;
      await parted;
      link.heal();
      const equalMs = await account.awaitEquality(`storm of seed ${storm.seed}`);

      console.log(`${seconds} s without a network, ${storm.made} changes: equal after ${equalMs} ms`);
      // The API server remembers a minute or so, and less of kinds that much else changes in.
      expect(listed.filter((each) => !forgotten.has(each))).toEqual([]);
      // Claims of its own that arrived late do not keep it out for a lease.
      expect(equalMs).toBeLessThan(streamLeaseMs / 2);
      expect((await account.show())?.failures).toBe(0);
      expect(agent.log).not.toContain('"an agent failed"');
    },
    testMs,
  );
});

/** Calls of the cluster that list a kind: the newest resource version is asked for by a list of one. */
function isList({ method, path: target, query }: PassingCall): boolean {
  return method === 'GET' && target.includes('/namespaces/') && /(^|&)limit=(?!1(&|$))/.test(query);
}
