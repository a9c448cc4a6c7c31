import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { findDifferences } from '#test/support/cluster/cached-cluster.ts';
import { createNamespace, describeWithCluster } from '#test/support/cluster/cluster.ts';
import { chooseSize } from '#test/support/run/test-size.ts';
import { itLocally } from '#test/support/system/subject.ts';
import { type System, startSystem } from '#test/support/system/system.ts';
import { rageStorm } from './storm/storm.ts';

/** `npm run soak` makes as many as it is told. */
const changes = Number(process.env['STORM_CHANGES'] ?? chooseSize({ short: 200, long: 5_000 }));
/** The whole process is killed after a pause of so many milliseconds, at random, again and again while the storm lasts. */
const killPauseMs = chooseSize({
  short: { least: 2_000, most: 6_000 },
  long: { least: 3_000, most: 12_000 },
});
/** A machine that is quick would be through with the changes before anything was killed. */
const killsLeast = chooseSize({ short: 2, long: 3 });
const catchUpMs = 240_000;

describeWithCluster('the cache after a storm', (cluster) => {
  itLocally('there is no one process to kill: see the read suite there')(
    `equals the cluster after ${changes} changes with agents killed at random, by runs and by streams`,
    async () => {
      await using one = await createNamespace('storm');
      await using other = await createNamespace('storm');
      const namespaces = [one.name, other.name];
      const accounts = [
        {
          ...{ name: 'by-runs', kubeconfigFile: cluster.kubeconfig, namespaces },
          ...{ cacheMode: 'interval', cacheIntervalSeconds: 2 },
        },
        { name: 'by-streams', kubeconfigFile: cluster.kubeconfig, namespaces, cacheMode: 'stream' },
      ];
      await using system = await startSystem({ settings: { kubernetes: { enabled: true, accounts } } });

      let kills = 0;
      const storm = rageStorm({ namespaces, changes, mayEnd: () => kills >= killsLeast });
      await killUntil(system, storm.ended, () => (kills += 1));
      const { made, seed } = await storm.ended;

      expect(made).toBeGreaterThanOrEqual(changes);
      expect(kills).toBeGreaterThanOrEqual(killsLeast);
      for (const { name: account } of accounts) {
        const differences = await awaitEquality(system, { account, namespaces });
        expect(differences, `storm of seed ${seed}, ${account}`).toEqual([]);
      }
    },
    900_000,
  );
});

async function killUntil(system: System, ended: Promise<unknown>, onKilled: () => void): Promise<void> {
  let isOver = false;
  ended.then(
    () => (isOver = true),
    () => (isOver = true),
  );
  while (!isOver) {
    await Promise.race([sleep(randomInt(killPauseMs.least, killPauseMs.most)), ended.catch(() => undefined)]);
    await system.kill('SIGKILL');
    await system.restart();
    onKilled();
  }
}

/** The differences that are left when there are none, or when it took too long. */
async function awaitEquality(
  system: System,
  part: { account: string; namespaces: readonly string[] },
): Promise<string[]> {
  const deadline = performance.now() + catchUpMs;
  for (;;) {
    const differences = await findDifferences(system, part);
    if (differences.length === 0 || performance.now() > deadline) return differences.slice(0, 20);
    await sleep(500);
  }
}
