import { expect, it } from 'vitest';
import { startApiProxy } from '#test/support/cluster/api-proxy.ts';
import { createNamespace, describeWithCluster, kubectl } from '#test/support/cluster/cluster.ts';
import { sendTaskMessages } from '#test/support/engines/stores.ts';
import { findDeployment } from '#test/support/system/deployed-system.ts';
import { startSubject } from '#test/support/system/subject.ts';

/** Deployed, each of the calls at once is a process of its own. */
const burst = findDeployment() === undefined ? 50 : 10;

describeWithCluster('the same request many times', (cluster) => {
  it(`${burst} times at once, before, during and after its execution, is one task and one execution`, async () => {
    await using namespace = await createNamespace('once');
    await using proxy = await startApiProxy(cluster, { getDelayMs: () => 100 });
    await using system = await startSubject({ kubeconfig: proxy.kubeconfig });
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
    expect(await countJobs(namespace.name)).toBe(1);
    const posts = proxy.calls.filter(({ method, path }) => method === 'POST' && path.endsWith('/jobs'));
    expect(posts).toHaveLength(1);
  });

  it('as one message delivered three times at once is one execution', async () => {
    await using namespace = await createNamespace('once');
    await using proxy = await startApiProxy(cluster, { getDelayMs: () => 50 });
    await using system = await startSubject({ kubeconfig: proxy.kubeconfig });

    const id = await system.postOperations(toJob(namespace.name), {});
    await sendTaskMessages(system.stores, id, 3);
    await system.waitForTask(id, { timeoutMs: 60_000 });
    await sendTaskMessages(system.stores, id, 3);
    await system.idle();

    expect(await countJobs(namespace.name)).toBe(1);
    const posts = proxy.calls.filter(({ method, path }) => method === 'POST' && path.endsWith('/jobs'));
    expect(posts).toHaveLength(1);
  });
});

/** A Job with a generated name: a second execution would be a second Job. */
function toJob(namespace: string): object[] {
  const manifest = {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { generateName: 'once-', namespace },
    spec: {
      template: {
        spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'example.invalid/app' }] },
      },
    },
  };
  return [{ deployManifest: { account: 'test', moniker: { app: 'once' }, manifests: [manifest] } }];
}

async function countJobs(namespace: string): Promise<number> {
  const text = await kubectl(['-n', namespace, 'get', 'jobs', '-o', 'json']);
  return (JSON.parse(text) as { items: unknown[] }).items.length;
}
