import { randomBytes } from 'node:crypto';
import { beforeEach, describe, expect, test } from 'vitest';
import type { StoredCachingAgent } from '#caching/scheduling/caching-agent-store.ts';
import { cacheTable } from '#platform/aws/tables.ts';
import { type CapacityBench, openCapacityBench, showApplication } from '#test/capacity/capacity-bench.ts';
import { createFleetWorld, type FleetObject, type FleetWorld } from '#test/capacity/fleet-world.ts';
import { newAccount } from '#test/contracts/cache-bench.ts';
import { useLocalTables } from '#test/support/engines/local-tables.ts';
import { disposeAfterEach } from '#test/support/run/disposal.ts';
import { type ScriptedServer, startScriptedServer } from '../client/scripted-server.ts';

const openTable = useLocalTables();

describe('what is too large to be cached', () => {
  let server: ScriptedServer;
  let world: FleetWorld;
  let bench: CapacityBench;
  let account: string;

  beforeEach(async () => {
    server = await startScriptedServer();
    world = createFleetWorld({
      applications: 2,
      deployments: 4,
      largeDeployments: 2,
      replicaSetsEach: 2,
      bareReplicaSets: 0,
      pods: 8,
    });
    account = newAccount();
    bench = await openCapacityBench({ engine: openTable(cacheTable), server, world, accounts: [account] });
  });
  disposeAfterEach(() => [bench, server]);

  const run = (): Promise<StoredCachingAgent> => bench.run(account);
  const countMissing = async () => (await bench.readTooLarge(account)) ?? 0;
  const show = async (application: string) => {
    const { serverGroups } = await showApplication(bench, application, account);
    return [...serverGroups].map(([name, pods]) => ({ name, pods }));
  };

  test('an object: all else is cached, and it is told of until it fits', async () => {
    const [first = '', second = ''] = world.listApplications();
    world.alter = (object) => (isNewestOf(first, object) ? addLabel(object, randomText(700_000)) : object);
    const told = { tooLarge: expect.stringMatching(/^replicaSet shop00000-.* in team0$/), tooLargeCount: 1 };
    expect(await run()).toMatchObject({ failures: 0, lastRun: { outcome: 'SUCCESS', details: told } });
    expect(await show(first)).toHaveLength(3);
    expect(await show(second)).toHaveLength(4);
    expect(await run()).toMatchObject({ failures: 0, lastRun: { changes: 0, details: told } });
    expect(await countMissing()).toBe(1);
    world.alter = (object) => object;
    world.touch(1);
    const { lastRun } = await run();
    expect(lastRun?.details).toEqual({ kinds: 4, watches: 4 });
    expect(await countMissing()).toBe(0);
    expect(await show(first)).toHaveLength(4);
  });

  test('an object of a list is told of anew, and one that is gone no more', async () => {
    const [first = ''] = world.listApplications();
    world.alter = (object) => (isNewestOf(first, object) ? addLabel(object, randomText(700_000)) : object);
    expect((await run()).lastRun?.details).toMatchObject({ tooLargeCount: 1 });
    world.expire();
    expect((await run()).lastRun?.details).toMatchObject({ tooLargeCount: 1 });
    world.alter = (object) => object;
    world.expire();
    expect((await run()).lastRun?.details).toEqual({ kinds: 4, watches: 4 });
  });

  test('an application by its name: all others are cached', async () => {
    const [first = '', second = ''] = world.listApplications();
    const application = randomText(410_000);
    world.alter = (object) => (isNewestOf(first, object) ? addApplication(object, application) : object);
    const { failures, lastRun } = await run();
    expect({ failures, outcome: lastRun?.outcome }).toEqual({ failures: 0, outcome: 'SUCCESS' });
    expect(lastRun?.details).toMatchObject({ tooLargeCount: expect.any(Number) });
    expect(await show(first)).toHaveLength(3);
    expect(await show(second)).toHaveLength(4);
  });
});

/** Whether it is the newest ReplicaSet of an application's first Deployment, which is the first that a change touches. */
function isNewestOf(application: string, { metadata: { name, labels = {} } }: FleetObject): boolean {
  return name.startsWith(`${application}-`) && labels['pod-template-hash'] === 'bbbbbbbbb0';
}

function addLabel(object: FleetObject, value: string): FleetObject {
  return { ...object, metadata: { ...object.metadata, labels: { ...object.metadata.labels, value } } };
}

function addApplication(object: FleetObject, application: string): FleetObject {
  const annotations = { 'moniker.spinnaker.io/application': application };
  return { ...object, metadata: { ...object.metadata, annotations } };
}

/** Text that cannot be compressed to less than three quarters. */
function randomText(length: number): string {
  return randomBytes(length).toString('base64url').slice(0, length);
}
