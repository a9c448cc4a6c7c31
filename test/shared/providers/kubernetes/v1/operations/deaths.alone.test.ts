import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { mapConcurrently } from '#core/concurrency.ts';
import { getPath, type JsonObject } from '#core/json.ts';
import { ProviderSet } from '#provider-kit/provider-set.ts';
import type { Manifest } from '#providers/kubernetes/api/manifest.ts';
import { DynamoTaskStore } from '#tasks/aws/task-store.ts';
import { processTaskMessage } from '#tasks/process-message.ts';
import { acceptOperations } from '#tasks/requests/accept-operations.ts';
import { leaseDurationMs } from '#tasks/task.ts';
import { describeWithCluster, requestApi } from '#test/support/cluster/cluster.ts';
import { toRequest } from '#test/support/conformance/operation-run.ts';
import { specAccounts } from '#test/support/conformance/operation-spec.ts';
import { MortalWorker } from '#test/support/conformance/operation-worker.ts';
import { createRandom, drawInteger, drawItem, type Random } from '#test/support/run/seeded-random.ts';
import { createTestClock } from '#test/support/run/test-clock.ts';
import { chooseSize } from '#test/support/run/test-size.ts';
import { getTaskView, messageOf, type TaskView } from '#test/support/system/task-runs.ts';
import { startTaskSystem, type TestTaskSystem } from '#test/support/system/task-system.ts';
import { getPathOf } from '../../live.ts';
import { createKubernetesCloud } from '../../operations/kubernetes-cloud.ts';
import type { KubernetesPlace } from '../../operations/specs/spec.ts';
import { createController, createReplicaSet } from './specs/worlds.ts';

/** One seed alone: `DEATH_SEED=… npx vitest run …/v1/operations/deaths.test.ts`. */
const { DEATH_SEED } = process.env;
const seeds =
  DEATH_SEED === undefined
    ? Array.from({ length: chooseSize({ short: 16, long: 400 }) }, (_, seed) => seed)
    : [Number(DEATH_SEED)];
/** Seeds that are tried at a time: most of their time they wait. */
const seedsAtATime = 4;

const plurals = { ReplicationController: 'replicationcontrollers', ReplicaSet: 'replicasets' } as const;
type Kind = keyof typeof plurals;
type Place = KubernetesPlace & { readonly name: string };
const label = 'load-balancer-front';
const source = 'kub-v000';
const containers = [{ name: 'web', imageDescription: { uri: 'registry.test/web:1' } }];

describeWithCluster('workers of V1 accounts die', (cluster) => {
  const registries = { providerVersion: 'v1', dockerRegistries: [{ accountName: 'hub' }] };
  const cloud = createKubernetesCloud(cluster, { common: registries, everywhere: { namespaces: ['*'] } });
  let engines: TestTaskSystem;
  beforeAll(async () => {
    engines = await startTaskSystem();
  });
  afterAll(() => engines?.[Symbol.asyncDispose]());

  /** Runs an operation by workers of which each dies after so many commits and writes, and one that lives. */
  async function runThrough(
    deaths: readonly number[],
    place: string,
    [name, fields]: readonly [string, JsonObject],
  ): Promise<TaskView> {
    const clock = createTestClock();
    const { table, randomness } = engines;
    const system = { ...engines, clock, store: new DynamoTaskStore({ table, clock, randomness }) };
    const context = { account: specAccounts.everywhere, namespace: place, ...fields };
    const work = async (worker: MortalWorker, go: (providers: ProviderSet) => Promise<void>) => {
      await using opened = await cloud.openWorker({ place, watch: worker, log: system.log });
      await Promise.race([worker.death, go(new ProviderSet([opened.provider]))]);
    };
    let view: TaskView | undefined;
    await work(new MortalWorker(system), async (providers) => {
      const task = await acceptOperations(system, providers, toRequest('kubernetes', name, context));
      for (const diesAfter of [...deaths, undefined]) {
        const worker = new MortalWorker(system, diesAfter === undefined ? {} : { diesAfter });
        await work(worker, (own) =>
          processTaskMessage(worker.system, messageOf(task), {
            findOperation: (...asked) => own.findOperation(...asked),
            stop: new AbortController().signal,
          }),
        );
        clock.advance(2 * leaseDurationMs);
      }
      view = await getTaskView(system, task);
    });
    const failure = view?.resultObjects.find(({ type }) => type === 'EXCEPTION');
    expect(failure, `the failure of ${name}`).toBeUndefined();
    return view as TaskView;
  }

  /** Two tasks make a server group each of one cluster, at once. */
  async function tryDeploys(random: Random, place: Place, operation: 'create' | 'clone'): Promise<void> {
    const kind = drawItem<Kind>(random, ['ReplicationController', 'ReplicaSet']);
    await arrange(place, kind, 0);
    const fields = { kind, targetSize: 1, loadBalancers: ['front'], containers };
    const create = ['createServerGroup', { ...fields, application: 'kub' }] as const;
    const clone = [
      'cloneServerGroup',
      { kind, targetSize: 1, source: { serverGroupName: source, namespace: place.name } },
    ] as const;
    const views = await Promise.all([
      runThrough(drawDeaths(random), place.name, operation === 'create' ? create : clone),
      runThrough(drawDeaths(random), place.name, create),
    ]);
    const told = views.map(({ resultObjects }) =>
      String(getPath(resultObjects[0], 'serverGroupNameByRegion', place.name)),
    );
    expect(told.toSorted(), 'names that were told').toEqual(['kub-v001', 'kub-v002']);
    expect(await place.listNames(plurals[kind]), 'server groups').toEqual([source, 'kub-v001', 'kub-v002']);
    await expectSwitched(place, { pods: 2, value: 'true' });
  }

  /** A server group goes out of service while its pods come up. */
  async function tryDisable(random: Random, place: Place): Promise<void> {
    const kind = drawItem<Kind>(random, ['ReplicationController', 'ReplicaSet']);
    const [pods, more] = [drawInteger(random, 0, 4), drawInteger(random, 0, 12)];
    await arrange(place, kind, pods);
    const scaled = { spec: { replicas: pods + more } };
    await requestApi('PATCH', getPathOf(place.name, `${plurals[kind]}/${source}/scale`), scaled);
    await runThrough(drawDeaths(random), place.name, ['disableServerGroup', { serverGroupName: source }]);
    await expectSwitched(place, { pods: pods + more, value: 'false' });
  }

  async function arrange(place: Place, kind: Kind, replicas: number): Promise<void> {
    const isReplicaSet = kind === 'ReplicaSet';
    const made: Manifest = isReplicaSet
      ? createReplicaSet(source, replicas)
      : createController(source, { replicas });
    await cloud.arrange(place, [made]);
  }

  const tries = {
    createServerGroup: (random: Random, place: Place) => tryDeploys(random, place, 'create'),
    cloneServerGroup: (random: Random, place: Place) => tryDeploys(random, place, 'clone'),
    disableServerGroup: tryDisable,
  };

  describe.concurrent('between any two steps, several in a row', () => {
    for (const [name, attempt] of Object.entries(tries))
      test(`${name}: exactly one controller, and no pod is left half switched (${seeds.length} seeds)`, async () => {
        await mapConcurrently(seeds, seedsAtATime, async (seed) => {
          await using place = await cloud.createPlace();
          const failed = (error: unknown) => {
            throw new Error(`with DEATH_SEED=${seed}`, { cause: error });
          };
          await attempt(createRandom(seed), place).catch(failed);
        });
      }, 600_000);
  });
});

/** After how many commits and writes each worker dies that does: up to three of them. */
function drawDeaths(random: Random): number[] {
  return Array.from({ length: drawInteger(random, 1, 3) }, () => drawInteger(random, 0, 4));
}

/** All pods that there are to be say so, those that came late as well. */
async function expectSwitched(
  place: Place,
  { pods, value }: { readonly pods: number; readonly value: string },
): Promise<void> {
  const wanted = Array.from({ length: pods }, () => value);
  const look = async (): Promise<void> => {
    const items = await place.listItems('pods');
    expect(items.map((pod) => getPath(pod, 'metadata', 'labels', label))).toEqual(wanted);
  };
  await vi.waitFor(look, { timeout: 240_000, interval: 50 });
}
