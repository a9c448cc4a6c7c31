import { BatchV1Api } from '@kubernetes/client-node';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createJob } from '#test/shared/providers/kubernetes/manifests.ts';
import { type ApiProxy, startApiProxy } from '#test/support/cluster/api-proxy.ts';
import { createNamespace, describeWithCluster } from '#test/support/cluster/cluster.ts';
import { openApi } from '#test/support/cluster/cluster-api.ts';
import { sendTaskMessages } from '#test/support/engines/stores.ts';
import { findDeployment } from '#test/support/system/deployed-system.ts';
import { startSubject } from '#test/support/system/subject.ts';
import type { Subject } from '#test/support/system/system.ts';

/** Deployed, each of the calls at once is a process of its own. */
const burst = findDeployment() === undefined ? 50 : 10;

describeWithCluster('the same request many times', (cluster) => {
  const stack = new AsyncDisposableStack();
  let proxy: ApiProxy;
  let system: Subject;

  beforeAll(async () => {
    proxy = stack.use(await startApiProxy(cluster, { getDelayMs: () => 100 }));
    system = stack.use(await startSubject({ kubeconfig: proxy.kubeconfig }));
  });
  afterAll(() => stack.disposeAsync());

  /** Holds the cluster against one execution: one Job, and one call that asked for it. */
  async function expectOnce(namespace: string): Promise<void> {
    const { items } = await openApi(BatchV1Api).listNamespacedJob({ namespace });
    expect(items).toHaveLength(1);
    const path = `/apis/batch/v1/namespaces/${namespace}/jobs`;
    expect(proxy.calls.filter((call) => call.method === 'POST' && call.path === path)).toHaveLength(1);
  }

  it(`${burst} times at once, before, during and after its execution, is one task and one execution`, async () => {
    await using namespace = await createNamespace('once');
    const operations = toJob(namespace.name);
    const postBurst = (): Promise<string[]> =>
      Promise.all(
        Array.from({ length: burst }, () => system.postOperations(operations, { clientRequestId: 'once' })),
      );

    const before = await postBurst();
    const during = await postBurst();
    await system.waitForTask(before[0] ?? '', { timeoutMs: 60_000 });
    const after = await postBurst();
    await system.idle();

    expect(new Set([...before, ...during, ...after]).size).toBe(1);
    await expectOnce(namespace.name);
  });

  it('as one message delivered three times at once is one execution', async () => {
    await using namespace = await createNamespace('once');
    const id = await system.postOperations(toJob(namespace.name), {});
    await sendTaskMessages(system.stores, id, 3);
    await system.waitForTask(id, { timeoutMs: 60_000 });
    await sendTaskMessages(system.stores, id, 3);
    await system.idle();

    await expectOnce(namespace.name);
  });
});

/** A Job with a generated name: a second execution would be a second Job. */
function toJob(namespace: string): object[] {
  const manifests = [createJob({ generateName: 'once-', namespace })];
  return [{ deployManifest: { account: 'test', moniker: { app: 'once' }, manifests } }];
}
