import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { AgentProcess } from '../../support/agents/agent-process.ts';
import { describeWithCluster } from '../../support/cluster/cluster.ts';
import { chooseSize } from '../../support/run/test-size.ts';
import { rageStorm } from '../caching/storm/storm.ts';
import { awaitSome, type CachedAccount, openCachedAccount } from './drills/cached-account.ts';

const changes = chooseSize({ short: 60, long: 1_000 });
const kills = chooseSize({ short: 2, long: 12 });
/** How the one of two agents that keeps the account cached is to lose it, one after the other. */
const losses: readonly Loss[] = chooseSize({
  short: ['SIGTERM', 'SIGTERM'],
  long: ['SIGTERM', 'SIGKILL', 'SIGSTOP', 'SIGTERM', 'SIGSTOP', 'SIGKILL'],
});

/** One that is stopped goes on later, while the other writes, too. */
type Loss = 'SIGTERM' | 'SIGKILL' | 'SIGSTOP';

/** Who does not give a lease back leaves it for 45 seconds. */
const takenOverMs = 120_000;
const testMs = 900_000;

describeWithCluster('what agents keep cached, in a storm', () => {
  test(
    `equals the cluster after ${changes} changes and ${kills} kills of Busdriver`,
    async () => {
      await using account = await openCachedAccount();
      const { system, namespace } = account;
      await account.start();
      await account.untilCached();
      let killed = 0;
      const storm = rageStorm({ namespaces: [namespace], changes, mayEnd: () => killed >= kills });
      for (; killed < kills; killed += 1) {
        await sleep(randomInt(500, 3_000));
        await system.kill('SIGKILL');
        // Now and then it is away for longer than a few tries take.
        if (killed % 4 === 1) await sleep(randomInt(1_000, 15_000));
        await system.restart();
      }
      const { made, seed } = await storm.ended;
      const equalMs = await account.awaitEquality(`storm of seed ${seed}`);

      console.log(`${made} changes, ${kills} kills of Busdriver: equal ${equalMs} ms after the last change`);
      expect((await account.show())?.failures).toBe(0);
    },
    testMs,
  );

  test(
    `equals the cluster after ${changes} changes and ${losses.length} hand-overs between two agents`,
    async () => {
      await using account = await openCachedAccount();
      const agents = [await account.start(), await account.start()];
      await account.untilCached();
      let lost = 0;
      const mayEnd = (): boolean => lost >= losses.length;
      const storm = rageStorm({ namespaces: [account.namespace], changes, mayEnd });
      for (const loss of losses) {
        await handOver(account, agents, loss);
        lost += 1;
      }
      const { made, seed } = await storm.ended;
      const equalMs = await account.awaitEquality(`storm of seed ${seed}`);

      console.log(`${made} changes, ${lost} hand-overs: equal ${equalMs} ms after the last change`);
    },
    testMs,
  );
});

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

/** The agent that was the last to begin. */
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
