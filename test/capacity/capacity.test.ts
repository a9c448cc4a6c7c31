import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { cacheTable } from '#platform/aws/tables.ts';
import { newAccount } from '#test/contracts/cache-bench.ts';
import {
  type ScriptedServer,
  startScriptedServer,
} from '#test/shared/providers/kubernetes/client/scripted-server.ts';
import { useLocalTables } from '#test/support/engines/local-tables.ts';
import { chooseSize } from '#test/support/run/test-size.ts';
import { openCapacityBench, showApplication } from './capacity-bench.ts';
import { bareApplication, createFleetWorld, type FleetSize } from './fleet-world.ts';

const openTable = useLocalTables();

/** A part of what `npm run capacity` has: names of one application alone that no item would hold. */
const size: FleetSize = {
  applications: 20,
  ...chooseSize({
    short: { deployments: 250, largeDeployments: 200, pods: 250 },
    long: { deployments: 1_000, largeDeployments: 950, pods: 1_000 },
  }),
  replicaSetsEach: 10,
  bareReplicaSets: 9_500,
};

describe('an account with more names than an item holds', () => {
  let server: ScriptedServer;
  beforeEach(async () => {
    server = await startScriptedServer();
  });
  afterEach(() => server[Symbol.asyncDispose]());

  test('is cached whole, and shows all of it; another change costs a few units', async () => {
    const account = newAccount();
    const world = createFleetWorld(size);
    const engine = openTable(cacheTable);
    await using bench = await openCapacityBench({ engine, server, world, accounts: [account] });
    expect(await bench.run(account)).toMatchObject({ failures: 0, lastRun: { outcome: 'SUCCESS' } });

    const { value: listed } = await bench.reader.listApplications();
    const own = listed.filter((each) => each.account === account);
    expect(own.map(({ application }) => application).sort()).toEqual(world.listApplications().sort());
    for (const { application, clusters } of own) expect(clusters).toEqual(world.listClusters(application));
    const [large = ''] = world.listApplications();
    const replicaSets = [
      [large, size.largeDeployments * size.replicaSetsEach],
      [bareApplication, size.bareReplicaSets],
    ] as const;
    for (const [application, count] of replicaSets) {
      const { clusters, serverGroups } = await showApplication(bench, application);
      expect(clusters[account]).toEqual(world.listClusters(application));
      expect(serverGroups.size).toBe(count);
    }
    const { serverGroups } = await showApplication(bench, large);
    expect([...serverGroups.values()].reduce((sum, pods) => sum + pods, 0)).toBe(size.largeDeployments);

    bench.takeUnits();
    world.touch(10);
    expect(await bench.run(account)).toMatchObject({ failures: 0, lastRun: { changes: 10 } });
    expect(bench.takeUnits().writeUnits).toBeLessThan(300);
  });
});
