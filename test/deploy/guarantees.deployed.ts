import { expect, it } from 'vitest';
import { getHeaderKey } from '#tasks/aws/task-items.ts';
import { attemptsMax, noProgressMs, taskRetentionMs } from '#tasks/task.ts';
import { changeStored } from '#test/support/agents/stored-change.ts';
import { type ProxiedCall, startApiProxy } from '#test/support/cluster/api-proxy.ts';
import { createNamespace, describeWithCluster } from '#test/support/cluster/cluster.ts';
import { awaitEmptyQueue, sendMessages, sendTaskMessages } from '#test/support/engines/stores.ts';
import {
  configureDeployedSystem,
  endFunctions,
  getDeployment,
} from '#test/support/system/deployed-system.ts';

import type { Subject } from '#test/support/system/system.ts';
import { stopFunction } from './function-concurrency.ts';
import { listNames, toConfigMap, toDeploy, toJob, toManifests } from './manifests.ts';

const worker = 'run-operations';

/** A dead worker's lease lapses after half a minute, and the sweeper looks once a minute. */
const recovery = { timeoutMs: 150_000 };

// What test/acceptance/tasks/crash.slow.test.ts and exactly-once.test.ts say of one machine.
describeWithCluster('the guarantees of the deployed system', (cluster) => {
  const deployment = getDeployment();
  const deadLetters = `${deployment.name}-operations-dead-letters`;

  it('an operation whose worker is killed after its call runs on, and has no second effect', async () => {
    await using namespace = await createNamespace('killed');
    let ended: Promise<void> | undefined;
    await using proxy = await startApiProxy(cluster, {
      getDelayMs: () => 100,
      // The Job exists, and its worker dies before it learns of it.
      cut: ({ method, path }) => {
        if (ended !== undefined || method !== 'POST' || !path.endsWith('/jobs')) return false;
        ended = endFunctions(deployment, worker);
        return true;
      },
    });
    await using system = await configureDeployedSystem(deployment, { kubeconfig: proxy.kubeconfig });

    const id = await system.postOperations(toDeploy([toJob(namespace.name)]));
    await sendTaskMessages(system.stores, id, 3);
    const task = await system.waitForTask(id, recovery);

    expect(ended).toBeDefined();
    await ended;
    expect(task.status).toMatchObject({ completed: true, failed: false });
    expect(await listNames(namespace.name, 'jobs')).toHaveLength(1);
    expect(task.resultObjects).toHaveLength(1);
  });

  it('killing all workers at any moment, twice, loses none of twenty operations', async () => {
    await using namespace = await createNamespace('killed');
    await using proxy = await startApiProxy(cluster, { getDelayMs: () => 200 });
    await using system = await configureDeployedSystem(deployment, { kubeconfig: proxy.kubeconfig });
    const names = Array.from({ length: 20 }, (_, index) => `killed-${index}`);

    const posting = postAll(
      system,
      names.map((name) => toDeploy(toManifests(namespace.name, name))),
    );
    for (const written of [5, 15]) {
      await expect
        .poll(() => countWrites(proxy.calls), { timeout: recovery.timeoutMs })
        .toBeGreaterThan(written);
      await endFunctions(deployment, worker);
    }
    const ids = await posting;
    const tasks = await Promise.all(ids.map((id) => system.waitForTask(id, recovery)));

    expect(tasks.filter(({ status }) => status.failed)).toEqual([]);
    const versions = await listNames(namespace.name, 'configmaps');
    expect(versions.filter((name) => name.startsWith('killed-'))).toEqual(
      names.map((name) => `${name}-v000`).sort(),
    );
    expect(await listNames(namespace.name, 'deployments')).toEqual([...names].sort());
  }, 480_000);

  it('a task whose attempts are spent is failed by the dead letters, in words', async () => {
    await using namespace = await createNamespace('dead');
    await using system = await configureDeployedSystem(deployment, { kubeconfig: cluster.kubeconfig });
    const [account = ''] = system.accounts;
    const operations = toDeploy([toConfigMap(namespace.name, 'never')], account);
    let id: string;
    {
      await using _stopped = await stopFunction(deployment, worker);
      id = await system.postOperations(operations);
      const message = JSON.stringify({ taskId: id });
      await changeStored(system.stores, [
        {
          ...{ tableName: system.stores.tasksTable, key: getHeaderKey(id), attribute: 'expiresAt' },
          value: Math.floor((Date.now() - noProgressMs + taskRetentionMs) / 1000),
        },
      ]);
      for (let attempt = 0; attempt <= attemptsMax; attempt += 1) {
        await sendMessages(system.stores, deadLetters, [message]);
        expect(await awaitEmptyQueue(system.stores, 30_000, deadLetters)).toBe(true);
      }
    }
    const task = await system.waitForTask(id);
    // Now the workers take the first message, for a task that is finished.
    await sendTaskMessages(system.stores, id, 3);
    await system.idle();

    expect(task.status).toMatchObject({ completed: true, failed: true });
    expect(JSON.stringify(task.history)).toMatch(/The task made no progress in 11 attempts/);
    expect(await (await system.fetch(`/task/${id}`)).json()).toMatchObject({ history: task.history });
    expect(await listNames(namespace.name, 'configmaps')).not.toContain('never-v000');
    expect((await system.readEvents()).filter(({ detail }) => detail['taskId'] === id).at(-1)).toMatchObject({
      'detail-type': 'TaskFailed',
    });
  });

  it('messages that nobody can read or that name no task harm nobody', async () => {
    await using namespace = await createNamespace('poison');
    await using system = await configureDeployedSystem(deployment, { kubeconfig: cluster.kubeconfig });
    const poison = ['no JSON', '{}', '[]', '{"taskId":7}', '{"taskId":"of another world"}'];

    await sendMessages(system.stores, system.stores.operationsQueue, poison);
    await sendMessages(system.stores, deadLetters, poison);
    const [account = ''] = system.accounts;
    const id = await system.postOperations(toDeploy([toConfigMap(namespace.name, 'well')], account));
    const task = await system.waitForTask(id);
    await system.idle();
    expect(await awaitEmptyQueue(system.stores, 30_000, deadLetters)).toBe(true);

    expect(task.status).toMatchObject({ completed: true, failed: false });
    expect(await system.readLog()).toContain('malformed message taken off the queue');
  });

  it('a dead letter for a task that can be run only delays it', async () => {
    await using namespace = await createNamespace('dead');
    await using proxy = await startApiProxy(cluster, { getDelayMs: () => 300 });
    await using system = await configureDeployedSystem(deployment, { kubeconfig: proxy.kubeconfig });

    const id = await system.postOperations(toDeploy(toManifests(namespace.name, 'delayed')));
    const message = JSON.stringify({ taskId: id });
    await sendMessages(system.stores, deadLetters, [message, message]);
    const task = await system.waitForTask(id, recovery);

    expect(task.status).toMatchObject({ completed: true, failed: false });
    expect(await listNames(namespace.name, 'configmaps')).toContain('delayed-v000');
  });
});

/** Posts one after the other. @returns the ids of the tasks */
async function postAll(system: Subject, all: readonly (readonly object[])[]): Promise<string[]> {
  const ids: string[] = [];
  for (const operations of all) ids.push(await system.postOperations(operations));
  return ids;
}

/** Objects that were written so far, or at least asked for. */
function countWrites(calls: readonly ProxiedCall[]): number {
  return calls.filter(({ method }) => method !== 'GET').length;
}
