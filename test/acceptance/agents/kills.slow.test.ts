import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { leaseDurationMs } from '#tasks/task.ts';
import type { AgentProcess } from '#test/support/agents/agent-process.ts';
import {
  awaitSome,
  type CachedAccount,
  type CachedWorld,
  openCachedWorld,
} from '#test/support/agents/cached-account.ts';
import { type ApiProxy, startApiProxy } from '#test/support/cluster/api-proxy.ts';
import {
  createNamespace,
  describeWithCluster,
  type TestCluster,
  type TestNamespace,
} from '#test/support/cluster/cluster.ts';
import { createRandom, drawInteger, type Random } from '#test/support/run/seeded-random.ts';
import { chooseSize } from '#test/support/run/test-size.ts';
import { rageStorm } from '../caching/storm/storm.ts';
import { endLeasesOfDead } from './drills/dead-agents.ts';
import { awaitDeploy, type Deploy, expectEachOnce, postDeploy } from './drills/deploys.ts';

/** The drills repeat these many times: 20 deploys, while whoever is killed is killed five times. */
const batches = chooseSize({ short: 1, long: 10 });
const killsPerBatch = 5;
const deploysPerKill = 4;
const deploys = batches * killsPerBatch * deploysPerKill;

/** Whether leases of dead agents are ended by the drill, as time would. */
const endsLeases = chooseSize({ short: true, long: false });

/** What changes in the cluster meanwhile, through so many kills of Busdriver. */
const changes = chooseSize({ short: 60, long: 1_000 });
const stormyKills = chooseSize({ short: 2, long: batches * killsPerBatch });
/** For how long Busdriver is away now and then, milliseconds at least and at most: longer than a few tries take. */
const awayMs = chooseSize({ short: [3_000, 5_000], long: [1_000, 15_000] });

/** How the one of two agents that keeps an account cached is to lose it, one after the other. */
const losses: readonly Loss[] = chooseSize({
  short: ['SIGTERM', 'SIGTERM'],
  long: ['SIGTERM', 'SIGKILL', 'SIGSTOP', 'SIGTERM', 'SIGSTOP', 'SIGKILL'],
});

/** One that is stopped goes on later, while the other writes, too. */
type Loss = 'SIGTERM' | 'SIGKILL' | 'SIGSTOP';

/** What a deploy may take from the last kill on: the lease of who was killed, the look for work after it, and the work. */
const lapseMs = 45_000;
const workMs = 60_000;

/** Who does not give the lease of an account back leaves it for 45 seconds. */
const takenOverMs = 120_000;
const testMs = (batches + 1) * 200_000 + losses.length * takenOverMs;

const seed = Number(process.env['KILL_SEED'] ?? chooseSize({ short: 4711, long: randomInt(1_000_000) }));

describeWithCluster(`drills of agents, with kills at random moments (seed ${seed})`, (cluster) => {
  const stack = new AsyncDisposableStack();
  /** Of agents that are killed or lose an account, and one that is killed itself. */
  let world: CachedWorld;
  let victim: CachedWorld;
  beforeAll(async () => {
    world = stack.use(await openCachedWorld(['handed'], { uncached: ['edge'] }));
    victim = stack.use(await openCachedWorld(['cached'], { uncached: ['edge'] }));
  }, testMs);
  afterAll(() => stack.disposeAsync());

  test.concurrent(
    `kill -9 of agents, of which there are two: each object of ${deploys} deploys is there once`,
    async () => {
      await using drill = await openDrill(cluster, world, createRandom(seed));
      const agents = [await drill.start(), await drill.start()];
      await Promise.all(agents.map((agent) => agent.untilConnected()));
      const dead: AgentProcess[] = [];
      for (let batch = 0; batch < batches; batch += 1) {
        await runBatch(drill, batch, {
          async kill() {
            const [killed] = agents.splice(drawInteger(drill.random, 0, 1), 1);
            await killed?.kill('SIGKILL');
            if (killed !== undefined) dead.push(killed);
            agents.push(await drill.start());
          },
          async afterKills(posted) {
            if (endsLeases) await endLeasesOfDead(world.system, posted, dead);
          },
        });
      }
      await expectEachOnce(drill.done, drill.proxy.calls);
    },
    testMs,
  );

  test.concurrent(
    `kill -9 of Busdriver, with two agents: each object of ${deploys} deploys is there once, and after ${changes} changes the cache equals the cluster`,
    async () => {
      const { system } = victim;
      await using drill = await openDrill(cluster, victim, createRandom(seed + 1));
      await using account = victim.use('cached');
      const agents = await Promise.all([drill.start(), drill.start(), account.start()]);
      await Promise.all(agents.map((agent) => agent.untilConnected()));
      await account.untilCached();
      let kills = 0;
      const mayEnd = (): boolean => kills >= stormyKills;
      const storm = rageStorm({ namespaces: [account.namespace], changes, mayEnd });
      for (let batch = 0; batch < batches; batch += 1) {
        await runBatch(drill, batch, {
          async kill() {
            await system.kill('SIGKILL');
            const [least = 0, most = 0] = awayMs;
            if (kills % 4 === 1) await sleep(drawInteger(drill.random, least, most));
            await system.restart();
            kills += 1;
          },
        });
      }
      const { made, seed: stormSeed } = await storm.ended;
      const equalMs = await account.awaitEquality(`storm of seed ${stormSeed}`);

      console.log(`${made} changes, ${kills} kills of Busdriver: equal after ${equalMs} ms`);
      expect((await account.show())?.failures).toBe(0);
      await expectEachOnce(drill.done, drill.proxy.calls);
    },
    testMs,
  );

  test(
    `hand-overs between two agents: what is kept cached equals the cluster after ${losses.length} of them, and ${changes} changes`,
    async () => {
      await using account = world.use('handed');
      const agents = [await account.start(), await account.start()];
      await account.untilCached();
      let lost = 0;
      const mayEnd = (): boolean => lost >= losses.length;
      const storm = rageStorm({ namespaces: [account.namespace], changes, mayEnd });
      for (const loss of losses) {
        await handOver(account, agents, loss);
        lost += 1;
      }
      const { made, seed: stormSeed } = await storm.ended;
      const equalMs = await account.awaitEquality(`storm of seed ${stormSeed}`);

      console.log(`${made} changes, ${lost} hand-overs: equal ${equalMs} ms after the last change`);
    },
    testMs,
  );
});

/** Deploys of an account while somebody is killed. Disposing stops its agents. */
interface Drill extends AsyncDisposable {
  readonly world: CachedWorld;
  readonly namespace: TestNamespace;
  readonly proxy: ApiProxy;
  readonly random: Random;
  /** Deploys that have ended. */
  readonly done: Deploy[];
  start(): Promise<AgentProcess>;
}

async function openDrill(cluster: TestCluster, world: CachedWorld, random: Random): Promise<Drill> {
  await using opening = new AsyncDisposableStack();
  const namespace = opening.use(await createNamespace('kills'));
  // Slow calls keep deploys under way when somebody dies.
  const getDelayMs = (): number => drawInteger(random, 10, 120);
  const proxy = opening.use(await startApiProxy(cluster, { getDelayMs }));
  const stack = opening.move();
  return {
    ...{ world, namespace, proxy, random, done: [] },
    start: async () => stack.use(await world.start('edge', proxy.kubeconfig)),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

interface Killer {
  kill(): Promise<void>;
  /** Called when all deploys are posted, and nobody is killed any more. */
  afterKills?(posted: readonly Deploy[]): Promise<void>;
}

/** Posts deploys, kills somebody a moment later, and so on; then waits for all of a batch. */
async function runBatch(drill: Drill, batch: number, { kill, afterKills }: Killer): Promise<void> {
  const { world, namespace, random } = drill;
  const posted: Promise<Deploy>[] = [];
  for (let count = 0; count < killsPerBatch; count += 1) {
    for (let index = 0; index < deploysPerKill; index += 1) {
      const name = `b${batch}-k${count}-${index}`;
      posted.push(postDeploy(world.system, { account: 'edge', namespace: namespace.name, name }));
    }
    await sleep(drawInteger(random, 100, 1_500));
    await kill();
  }
  const lastKillMs = performance.now();
  const all = await Promise.all(posted);
  await afterKills?.(all);
  const ends = await Promise.all(all.map((each) => awaitDeploy(world.system, each, lapseMs + workMs)));
  expect(ends.filter(({ task }) => task.status.failed)).toEqual([]);
  // All of them are begun when the last kill comes, and each works on until it has ended or is killed.
  const slowestMs = Math.max(...all.map(({ postedAtMs }, index) => postedAtMs + (ends[index]?.tookMs ?? 0)));
  expect(slowestMs - lastKillMs).toBeLessThan(lapseMs + workMs);
  console.log(
    `${all.length} deploys: the last ended ${Math.round(slowestMs - lastKillMs)} ms after the last kill; ` +
      `a lease lasts ${leaseDurationMs} ms`,
  );
  drill.done.push(...all);
}

/** Has the account taken over by another agent than the one that keeps it cached now; in the end there are two again. */
async function handOver(account: CachedAccount, agents: AgentProcess[], loss: Loss): Promise<void> {
  const before = await awaitOwner(account);
  const holder = findHolder(agents);
  if (loss === 'SIGSTOP') process.kill(holder.pid, loss);
  else {
    await holder.kill(loss);
    agents.splice(agents.indexOf(holder), 1, await account.start());
  }
  await awaitOwner(account, before);
  if (loss === 'SIGSTOP') process.kill(holder.pid, 'SIGCONT');
}

/** Waits until somebody keeps the account cached. @param before another one than that */
async function awaitOwner(account: CachedAccount, before?: string): Promise<string> {
  const findOwner = async (): Promise<string | undefined> => {
    const owner = (await account.show())?.leaseOwner;
    return owner === before ? undefined : owner;
  };
  return awaitSome('another agent keeps the account cached', findOwner, { timeoutMs: takenOverMs });
}

function findHolder(agents: readonly AgentProcess[]): AgentProcess {
  const [last] = agents.toSorted((one, other) => readBegin(other).localeCompare(readBegin(one)));
  if (last === undefined) throw new Error('there is no agent');
  return last;
}

/** When it began to keep the account cached, the last time; empty before. */
function readBegin({ log }: AgentProcess): string {
  const line = log.split('\n').findLast((each) => each.includes('"keeping an account cached"'));
  return line === undefined ? '' : (JSON.parse(line) as { timestamp: string }).timestamp;
}
