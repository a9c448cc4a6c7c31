import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { startApiProxy } from '#test/support/cluster/api-proxy.ts';
import { createNamespace, describeWithCluster } from '#test/support/cluster/cluster.ts';
import { chooseSize } from '#test/support/run/test-size.ts';
import { type SystemTask, startSystem } from '#test/support/system/system.ts';
import { arrange, findWrongs, listLive, type Trial } from './faults/effects.ts';
import { planFaults } from './faults/fault-plan.ts';
import { operationSorts } from './faults/faulty-operations.ts';

/** Another seed makes other faults: to be tried by `FAULT_SEED=… npx vitest run test/acceptance/tasks/faults.test.ts`. */
const seed = Number(process.env['FAULT_SEED'] ?? 5);
const share = 0.2;
/** Of the operations that there are of each sort, so many are done. */
const operationsShare = chooseSize({ short: 1 / 3, long: 1 });
/** What goes wrong so often in a row that Busdriver gives up, of all operations; by far the most is mended. */
const failedShareMax = 0.05;
/** What a failed task says of the faults. */
const rightMessage = /refused by the test|no answer from https:\/\/127\.0\.0\.1/;

interface TaskTrial extends Trial {
  id: string;
  task?: SystemTask;
}

describeWithCluster('an API server that often fails', (cluster) => {
  it(`does each operation once, or says why not (seed ${seed})`, async () => {
    await using namespace = await createNamespace('faults');
    const plan = planFaults(seed, share);
    await using proxy = await startApiProxy(cluster, plan);
    await using system = await startSystem({ kubeconfig: proxy.kubeconfig });
    const trials = listTrials(namespace.name);
    await Promise.all(trials.map(arrange));

    for (const trial of trials) {
      const clientRequestId = randomUUID();
      trial.id = await system.postOperations([trial.sort.create(trial.place)], { clientRequestId });
    }
    for (const trial of trials) trial.task = await system.waitForTask(trial.id, { timeoutMs: 120_000 });
    await system.idle();

    const failed = trials.filter(({ task }) => task?.status.failed);
    console.log(
      `faults of seed ${seed}: ${JSON.stringify(plan.counts)}; ${failed.length} of ${trials.length} operations failed`,
    );
    expect(trials.length).toBeGreaterThanOrEqual(300 * operationsShare);
    expect(failed.map(readMessage).filter((message) => !rightMessage.test(message))).toEqual([]);
    expect(failed.length).toBeLessThanOrEqual(failedShareMax * trials.length);
    const live = await listLive(namespace.name);
    const wrongs = trials.flatMap((trial) => {
      const isDone = trial.task?.status.failed === false;
      return findWrongs(trial, { isDone, live, calls: proxy.calls });
    });
    expect(wrongs).toEqual([]);
    expect(await (await system.fetch('/task')).json()).toEqual([]);
  });
});

function listTrials(namespace: string): TaskTrial[] {
  const trials = operationSorts.flatMap((sort) =>
    Array.from({ length: Math.ceil(sort.count * operationsShare) }, (_, index) => ({
      sort,
      place: { namespace, name: `${sort.name}-${index}` },
      id: '',
    })),
  );
  // All sorts at once, in an order that is the same each time.
  return trials.toSorted(
    (one, other) => Number(one.place.name.split('-').at(-1)) - Number(other.place.name.split('-').at(-1)),
  );
}

function readMessage({ task }: TaskTrial): string {
  return String(task?.resultObjects.find(({ type }) => type === 'EXCEPTION')?.['message']);
}
