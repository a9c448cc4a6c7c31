import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { expect, it } from 'vitest';
import { localClientOptions } from '../../infra/local/local-aws.ts';
import { startApiProxy } from '../support/api-proxy.ts';
import { createNamespace, describeWithCluster, kubectl } from '../support/cluster.ts';
import { type System, startSystem } from '../support/system.ts';

describeWithCluster('the same request many times', (cluster) => {
  it('fifty times at once, before, during and after its execution, is one task and one execution', async () => {
    await using namespace = await createNamespace('once');
    await using proxy = await startApiProxy(cluster, { getDelayMs: () => 100 });
    await using system = await startSystem({ kubeconfig: proxy.kubeconfig });
    const operations = toJob(namespace.name);
    const postFifty = (): Promise<string[]> =>
      Promise.all(
        Array.from({ length: 50 }, () => system.postOperations(operations, { clientRequestId: 'once' })),
      );

    const before = await postFifty();
    const during = await postFifty();
    await system.waitForTask(before[0] ?? '', { timeoutMs: 60_000 });
    const after = await postFifty();
    await system.idle();

    expect(new Set([...before, ...during, ...after]).size).toBe(1);
    expect(await countJobs(namespace.name)).toBe(1);
    const posts = proxy.calls.filter(({ method, path }) => method === 'POST' && path.endsWith('/jobs'));
    expect(posts).toHaveLength(1);
  });

  it('as one message delivered three times at once is one execution', async () => {
    await using namespace = await createNamespace('once');
    await using proxy = await startApiProxy(cluster, { getDelayMs: () => 50 });
    await using system = await startSystem({ kubeconfig: proxy.kubeconfig });

    const id = await system.postOperations(toJob(namespace.name), {});
    await sendHint(system, id, 3);
    await system.waitForTask(id, { timeoutMs: 60_000 });
    await sendHint(system, id, 3);
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

/** Puts a task's hint on the real queue, as a duplicate delivery would. */
async function sendHint(system: System, taskId: string, times: number): Promise<void> {
  const client = new SQSClient({ ...localClientOptions, endpoint: system.engines.sqs });
  const QueueUrl = `${system.engines.sqs}/000000000000/operations`;
  const MessageBody = JSON.stringify({ taskId });
  try {
    await Promise.all(
      Array.from({ length: times }, () => client.send(new SendMessageCommand({ QueueUrl, MessageBody }))),
    );
  } finally {
    client.destroy();
  }
}
