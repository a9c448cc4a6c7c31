import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { streamLeaseMs } from '../../../shared/core/agents/streams/stream-worker.ts';
import {
  type AgentProcess,
  createTokenSigner,
  startAgent,
  toAgentAccount,
} from '../../support/agents/agent-process.ts';
import { startWorld } from '../../support/agents/agent-world.ts';
import { type PassingCall, startApiProxy } from '../../support/cluster/api-proxy.ts';
import { createNamespace, describeWithCluster } from '../../support/cluster/cluster.ts';
import { chooseSize } from '../../support/run/test-size.ts';
import { rageStorm } from '../caching/storm/storm.ts';
import { openCachedAccount } from './drills/cached-account.ts';
import { awaitDeploy, expectEachOnce, postDeploy } from './drills/deploys.ts';
import { type Link, startLink } from './drills/link.ts';

/** Seconds without a network: within a lease, past it, and past all that anybody waits for. */
const lengths = chooseSize({ short: [5, 60], long: [5, 60, 600] });

const taskMs = 120_000;

describeWithCluster('an agent without a network', (cluster) => {
  test.concurrent.each(lengths)(
    'for %d s in the midst of a deploy: each object is there once, and the agent comes back by itself',
    async (seconds) => {
      await using stack = new AsyncDisposableStack();
      const namespace = stack.use(await createNamespace('parted'));
      const signer = await createTokenSigner();
      const { system } = stack.use(await startWorld([toAgentAccount('edge', signer)]));
      const link = stack.use(await startLink(Number(new URL(system.url).port)));
      let writes = 0;
      const { promise: parted, resolve: tellParted } = Promise.withResolvers<void>();
      const proxy = stack.use(
        await startApiProxy(cluster, {
          async before({ method, path: target }) {
            if (method === 'GET' || !target.includes(namespace.name)) return;
            writes += 1;
            if (writes === 3) part(link, seconds, tellParted);
          },
        }),
      );
      const token = await signer.sign({ lifeSeconds: 3_600 });
      const accounts = [{ name: 'edge', kubeConfigFile: proxy.kubeconfig }];
      const start = async (url: string): Promise<AgentProcess> =>
        stack.use(await startAgent({ url, token, accounts }));
      await start(`http://127.0.0.1:${link.port}`);
      const first = await postDeploy(system, { account: 'edge', namespace: namespace.name, name: 'first' });
      await parted;
      const other = await start(system.url);
      const { task } = await awaitDeploy(system, first, taskMs);
      expect(task.status.failed).toBe(false);

      await healed(link);
      // The one that was cut off has it alone now.
      await other.kill('SIGTERM');
      const second = await postDeploy(system, { account: 'edge', namespace: namespace.name, name: 'second' });
      const { task: later } = await awaitDeploy(system, second, taskMs);
      expect(later.status.failed).toBe(false);
      await expectEachOnce([first, second], proxy.calls);
    },
    (Math.max(...lengths) + 300) * 1_000,
  );

  test.concurrent.each(lengths)(
    'for %d s while objects change: what it keeps cached equals the cluster again, and is not listed anew',
    async (seconds) => {
      await using account = await openCachedAccount();
      const { system, namespace } = account;
      await using link = await startLink(Number(new URL(system.url).port));
      let listed: string[] = [];
      const forgotten = new Set<string>();
      await using proxy = await startApiProxy(cluster, {
        async before(call) {
          if (isList(call)) listed.push(call.path);
        },
        onPart(call, part) {
          if (part.includes('"code":410')) forgotten.add(call.path);
        },
      });
      const agent = await account.start({
        url: `http://127.0.0.1:${link.port}`,
        kubeConfigFile: proxy.kubeconfig,
      });
      await account.untilCached();
      expect(listed).not.toEqual([]);
      listed = [];
      link.part();
      const parted = sleep(seconds * 1_000);
      const storm = await rageStorm({ namespaces: [namespace], changes: 60 }).ended;
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
    (Math.max(...lengths) + 300) * 1_000,
  );
});

/** Calls of the cluster that list a kind: the newest resource version is asked for by a list of one. */
function isList({ method, path: target, query }: PassingCall): boolean {
  return method === 'GET' && target.includes('/namespaces/') && /(^|&)limit=(?!1(&|$))/.test(query);
}

const heals = new WeakMap<Link, Promise<void>>();

function part(link: Link, seconds: number, tell: () => void): void {
  link.part();
  heals.set(
    link,
    sleep(seconds * 1_000).then(() => link.heal()),
  );
  tell();
}

async function healed(link: Link): Promise<void> {
  await heals.get(link);
}
