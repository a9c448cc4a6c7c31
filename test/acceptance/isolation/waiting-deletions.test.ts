import { expect, it } from 'vitest';
import {
  createNamespace,
  describeWithCluster,
  findObject,
  requestApi,
} from '#test/support/cluster/cluster.ts';
import { itLocally } from '#test/support/system/subject.ts';
import { type System, type SystemTask, startSystem } from '#test/support/system/system.ts';

/** More than there are workers. */
const waitingCount = 30;
const names = Array.from({ length: waitingCount }, (_, index) => `held-${index}`);

describeWithCluster('deletions that finalizers hold', (cluster) => {
  it('do not keep operations of another account waiting', async () => {
    await using namespace = await createNamespace('held');
    await using system = await startTwoAccounts(cluster.kubeconfig);
    const waiting = await beginDeletions(system, namespace.name);
    // All workers are busy, or were.
    await expect.poll(() => countAskedFor(namespace.name)).toBeGreaterThanOrEqual(20);

    const metadata = { name: 'quick', namespace: namespace.name };
    const manifests = [{ apiVersion: 'v1', kind: 'Secret', metadata }];
    const deploy = await system.waitForTask(
      await system.postOperations([
        { deployManifest: { account: 'two', moniker: { app: 'quick' }, manifests } },
      ]),
      { timeoutMs: 60_000 },
    );

    expect(deploy.status.failed).toBe(false);
    for (const id of waiting) expect((await readTask(system, id)).status.completed).toBe(false);
    await awaitPutDown(system, waiting);
    await release(namespace.name);
    await expectDone(system, waiting);
  });

  itLocally('there is no one process: see test/deploy')('outlive the process', async () => {
    await using namespace = await createNamespace('held');
    await using system = await startTwoAccounts(cluster.kubeconfig);
    const waiting = await beginDeletions(system, namespace.name);
    await awaitPutDown(system, waiting);
    await system.kill('SIGKILL');
    await release(namespace.name);
    await system.restart();
    await expectDone(system, waiting);
  });
});

function startTwoAccounts(kubeconfigFile: string): Promise<System> {
  const accounts = ['one', 'two'].map((name) => ({ name, kubeconfigFile }));
  return startSystem({ settings: { kubernetes: { enabled: true, accounts } } });
}

/** Creates ConfigMaps that cannot go, and has the account `one` delete each. */
async function beginDeletions(system: System, namespace: string): Promise<string[]> {
  const metadata = { finalizers: ['busdriver.test/hold'] };
  await Promise.all(
    names.map((name) =>
      requestApi('POST', `/api/v1/namespaces/${namespace}/configmaps`, {
        ...{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { ...metadata, name } },
      }),
    ),
  );
  return Promise.all(
    names.map((name) =>
      system.postOperations([
        { deleteManifest: { account: 'one', location: namespace, manifestName: `configMap ${name}` } },
      ]),
    ),
  );
}

async function countAskedFor(namespace: string): Promise<number> {
  const found = await Promise.all(
    names.map((name) => findObject(`/api/v1/namespaces/${namespace}/configmaps/${name}`)),
  );
  return found.filter((live) => JSON.stringify(live).includes('deletionTimestamp')).length;
}

async function release(namespace: string): Promise<void> {
  await Promise.all(
    names.map((name) =>
      requestApi('PATCH', `/api/v1/namespaces/${namespace}/configmaps/${name}`, {
        metadata: { finalizers: null },
      }),
    ),
  );
}

async function readTask(system: System, id: string): Promise<SystemTask> {
  return (await (await system.fetch(`/task/${id}`)).json()) as SystemTask;
}

async function awaitPutDown(system: System, ids: readonly string[]): Promise<void> {
  const isPutDown = async (id: string): Promise<boolean> =>
    (await readTask(system, id)).status.status.startsWith('Waiting for configMap held-');
  await expect.poll(async () => (await Promise.all(ids.map(isPutDown))).every(Boolean)).toBe(true);
}

async function expectDone(system: System, ids: readonly string[]): Promise<void> {
  for (const [index, id] of ids.entries()) {
    const { status, history } = await system.waitForTask(id, { timeoutMs: 120_000 });
    expect(status).toMatchObject({ completed: true, failed: false });
    const waits = history.filter((line) => line.status.startsWith('Waiting for '));
    expect(waits).toEqual([
      {
        phase: 'DELETE_KUBERNETES_MANIFEST',
        status: expect.stringMatching(
          `^Waiting for configMap held-${index} to be gone, held by busdriver.test/hold \\(since .*, until .*\\)$`,
        ),
      },
    ]);
    expect(history.filter((line) => line.status === 'Deleted 1 objects')).toHaveLength(1);
  }
}
