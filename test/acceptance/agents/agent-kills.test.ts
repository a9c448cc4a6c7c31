import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { leaseDurationMs } from '../../../shared/core/tasks/task.ts';
import {
  type AgentProcess,
  createTokenSigner,
  findFreePort,
  startAgent,
  type TokenSigner,
  toAgentAccount,
} from '../../support/agents/agent-process.ts';
import { startWorld } from '../../support/agents/agent-world.ts';
import { type ApiProxy, startApiProxy } from '../../support/cluster/api-proxy.ts';
import { createNamespace, describeWithCluster } from '../../support/cluster/cluster.ts';
import { createRandom, drawInteger, type Random } from '../../support/run/seeded-random.ts';
import { chooseSize } from '../../support/run/test-size.ts';
import type { System } from '../../support/system/system.ts';
import { awaitDeploy, type Deploy, expectEachOnce, postDeploy } from './drills/deploys.ts';

/** The drill repeats these many times: 20 deploys, while whoever is killed is killed five times. */
const batches = chooseSize({ short: 1, long: 10 });
const killsPerBatch = 5;
const deploysPerKill = 4;
const deploys = batches * killsPerBatch * deploysPerKill;

/** What a deploy may take from the last kill on: the lease of who was killed, the look for work after it, and the work. */
const lapseMs = 45_000;
const workMs = 30_000;

const seed = Number(process.env['KILL_SEED'] ?? randomInt(1_000_000));

/** A drill. */
interface Drill {
  readonly system: System;
  readonly namespace: string;
  readonly random: Random;
  /** Kills somebody, and has somebody take its place. */
  kill(): Promise<void>;
}

describeWithCluster(`kill -9 at random moments (seed ${seed})`, (cluster) => {
  const startProxy = (random: Random): Promise<ApiProxy> =>
    // Slow calls keep deploys under way when somebody dies.
    startApiProxy(cluster, { getDelayMs: () => drawInteger(random, 10, 120) });

  test.concurrent(
    `of agents, of which there are two: each object of ${deploys} deploys is there once`,
    async () => {
      const random = createRandom(seed);
      await using stack = new AsyncDisposableStack();
      const namespace = stack.use(await createNamespace('kills'));
      const proxy = stack.use(await startProxy(random));
      const signer = await createTokenSigner();
      const { system } = stack.use(await startWorld([toAgentAccount('edge', signer)]));
      const startOne = async () => stack.use(await startReplica({ system, signer, proxy }));
      const agents = [await startOne(), await startOne()];
      const done = await runDrill({
        ...{ system, random, namespace: namespace.name },
        async kill() {
          const [victim] = agents.splice(drawInteger(random, 0, 1), 1);
          await victim?.kill('SIGKILL');
          agents.push(await startOne());
        },
      });

      await expectEachOnce(done, proxy.calls);
    },
    (batches + 1) * 200_000,
  );

  test.concurrent(
    `of Busdriver, with two agents: each object of ${deploys} deploys is there once`,
    async () => {
      const random = createRandom(seed + 1);
      await using stack = new AsyncDisposableStack();
      const namespace = stack.use(await createNamespace('kills'));
      const proxy = stack.use(await startProxy(random));
      const signer = await createTokenSigner();
      const port = await findFreePort();
      const { system } = stack.use(
        await startWorld([toAgentAccount('edge', signer)], ['--port', String(port)]),
      );
      for (let count = 0; count < 2; count += 1) stack.use(await startReplica({ system, signer, proxy }));
      const done = await runDrill({
        ...{ system, random, namespace: namespace.name },
        async kill() {
          await system.kill('SIGKILL');
          await system.restart();
        },
      });

      await expectEachOnce(done, proxy.calls);
    },
    (batches + 1) * 200_000,
  );
});

interface ReplicaOptions {
  readonly system: System;
  readonly signer: TokenSigner;
  readonly proxy: ApiProxy;
}

async function startReplica({ system, signer, proxy }: ReplicaOptions): Promise<AgentProcess> {
  const accounts = [{ name: 'edge', kubeConfigFile: proxy.kubeconfig }];
  return startAgent({ url: system.url, token: await signer.sign(), accounts });
}

/** Posts deploys, kills somebody a moment later, and so on; then waits for all of a batch. */
async function runDrill(drill: Drill): Promise<readonly Deploy[]> {
  const done: Deploy[] = [];
  for (let batch = 0; batch < batches; batch += 1) done.push(...(await runBatch(drill, batch)));
  return done;
}

async function runBatch(drill: Drill, batch: number): Promise<readonly Deploy[]> {
  const { system, namespace, random } = drill;
  const posted: Promise<Deploy>[] = [];
  for (let kill = 0; kill < killsPerBatch; kill += 1) {
    for (let index = 0; index < deploysPerKill; index += 1) {
      const name = `b${batch}-k${kill}-${index}`;
      posted.push(postDeploy(system, { account: 'edge', namespace, name }));
    }
    await sleep(drawInteger(random, 100, 1_500));
    await drill.kill();
  }
  const lastKillMs = performance.now();
  const all = await Promise.all(posted);
  const ends = await Promise.all(all.map((each) => awaitDeploy(system, each, lapseMs + workMs)));
  expect(ends.filter(({ task }) => task.status.failed)).toEqual([]);
  // All of them are begun when the last kill comes, and each works on until it has ended or is killed.
  const slowestMs = Math.max(...all.map(({ postedAtMs }, index) => postedAtMs + (ends[index]?.tookMs ?? 0)));
  expect(slowestMs - lastKillMs).toBeLessThan(lapseMs + workMs);
  console.log(
    `${all.length} deploys: the last ended ${Math.round(slowestMs - lastKillMs)} ms after the last kill; ` +
      `a lease lasts ${leaseDurationMs} ms`,
  );
  return all;
}
