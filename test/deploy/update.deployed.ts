import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { startApiProxy } from '../support/api-proxy.ts';
import { createNamespace, describeWithCluster } from '../support/cluster.ts';
import { configureDeployedSystem, getDeployment } from '../support/deployed-system.ts';
import type { Subject } from '../support/system.ts';
import { callRest } from './aws-calls.ts';
import { deployStacks } from './cdk.ts';
import { listNames, toDeploy, toManifests } from './manifests.ts';

/** Pause between two posts, as long as the deploy goes on. */
const pauseMs = 300;
const retryPauseMs = 200;

describeWithCluster('a deploy of changed stacks', (cluster) => {
  it('loses no operation that is accepted, queued or running meanwhile', async () => {
    const deployment = getDeployment();
    await using namespace = await createNamespace('update');
    await using proxy = await startApiProxy(cluster, { getDelayMs: () => 100 });
    await using system = await configureDeployedSystem(deployment, { kubeconfig: proxy.kubeconfig });
    expect(await findLogLevels(deployment.endpoint, deployment.name)).toEqual(['DEBUG']);

    let isDeployed = false;
    const { endpoint, cdkLog: logFile } = deployment;
    const deploying = deployStacks(deployment.changedAssembly, { endpoint, logFile }).finally(() => {
      isDeployed = true;
    });
    const names: string[] = [];
    const ids: string[] = [];
    while (!isDeployed) {
      const name = `update-${String(names.length).padStart(4, '0')}`;
      names.push(name);
      const operations = toDeploy(toManifests(namespace.name, name));
      ids.push(await postUntilAccepted(system, operations, namespace.name + name));
      await sleep(pauseMs);
    }
    await deploying;
    const tasks = await Promise.all(ids.map((id) => system.waitForTask(id, { timeoutMs: 200_000 })));

    console.log(`${names.length} operations were posted during the deploy`);
    expect(names.length).toBeGreaterThan(5);
    expect(await findLogLevels(deployment.endpoint, deployment.name)).toEqual(['INFO']);
    expect(new Set(ids).size).toBe(names.length);
    expect(tasks.filter(({ status }) => status.failed)).toEqual([]);
    expect(await listNames(namespace.name, 'configmaps')).toEqual(names.map((name) => `${name}-v000`));
    expect(await listNames(namespace.name, 'deployments')).toEqual(names);
  }, 400_000);
});

/**
 * Posts as Orca does: again with the same id until it has an answer. The emulator ends a function that it updates, though it
 * answers.
 */
async function postUntilAccepted(
  system: Subject,
  operations: readonly object[],
  clientRequestId: string,
): Promise<string> {
  for (;;) {
    const id = await system.postOperations(operations, { clientRequestId }).catch(() => undefined);
    if (id !== undefined) return id;
    await sleep(retryPauseMs);
  }
}

/** The levels at which functions log: of two routes and of the worker, without repetition. */
async function findLogLevels(endpoint: string, name: string): Promise<string[]> {
  const levels = ['get-task', 'start-operations', 'run-operations'].map(async (row) => {
    const path = `/2015-03-31/functions/${name}-${row}/configuration`;
    const answer = await callRest(endpoint, { service: 'lambda', method: 'GET', path });
    const { Environment } = answer as { Environment: { Variables: { [name: string]: string } } };
    return Environment.Variables['BUSDRIVER_LOG_LEVEL'] ?? '';
  });
  return [...new Set(await Promise.all(levels))];
}
