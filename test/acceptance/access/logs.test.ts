import { afterAll, beforeAll, expect, it } from 'vitest';
import { createConfigMap } from '#test/shared/providers/kubernetes/manifests.ts';
import { type PassingCall, startApiProxy } from '#test/support/cluster/api-proxy.ts';
import { createNamespace, describeWithCluster, type TestNamespace } from '#test/support/cluster/cluster.ts';
import { type System, startSystem } from '#test/support/system/system.ts';

const headers = {
  'content-type': 'application/json',
  'X-SPINNAKER-USER': 'ada@example.com',
  'X-SPINNAKER-REQUEST-ID': 'request-4711',
  'X-SPINNAKER-EXECUTION-ID': '01HEXECUTION',
  'X-SPINNAKER-APPLICATION': 'shop',
  traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
};

const caller = {
  user: 'ada@example.com',
  requestId: 'request-4711',
  executionId: '01HEXECUTION',
  application: 'shop',
  traceparent: headers.traceparent,
};

describeWithCluster('the log', (cluster) => {
  const stack = new AsyncDisposableStack();
  /** The traces that writes of the API server were part of. */
  const traces: unknown[] = [];
  let namespace: TestNamespace;
  let system: System;
  beforeAll(async () => {
    namespace = stack.use(await createNamespace('logs'));
    const args = ['--log-level', 'info'];
    const getFault = ({ method, traceparent }: PassingCall) => {
      if (method === 'POST') traces.push(traceparent);
      return undefined;
    };
    const proxy = stack.use(await startApiProxy(cluster, { getFault }));
    system = stack.use(await startSystem({ kubeconfig: proxy.kubeconfig, args }));
  });
  afterAll(() => stack.disposeAsync());

  it.each([
    { name: 'flags', data: { a: 'secret-of-the-manifest' }, end: 'task completed' },
    { name: 'Not A Name', data: {}, end: 'task failed' },
  ])('tells whose task runs where, until: $end', async ({ name, data, end }) => {
    const [account] = system.accounts;
    const manifests = [createConfigMap(name, data, { namespace: namespace.name })];
    const body = JSON.stringify([{ deployManifest: { account, moniker: { app: 'shop' }, manifests } }]);

    const response = await system.fetch('/kubernetes/ops', { method: 'POST', headers, body });
    const { id: taskId } = (await response.json()) as { id: string };
    await system.waitForTask(taskId);
    await system.idle();

    const lines = system.stderr.split('\n').filter((line) => line.startsWith('{'));
    const ofTask = lines.map((line) => JSON.parse(line)).filter((line) => line.taskId === taskId);
    const common = { ...caller, taskId, account, level: 'INFO', service: 'busdriver' };
    const awsRequestId = expect.stringMatching(/^[\da-f-]{36}$/);
    expect(ofTask).toEqual([
      expect.objectContaining({
        ...common,
        message: 'task accepted',
        function: 'start-operations',
        awsRequestId: response.headers.get('x-amzn-requestid'),
      }),
      expect.objectContaining({
        ...common,
        message: 'task started',
        function: 'run-operations',
        awsRequestId,
        attempt: 1,
        waitedMs: expect.any(Number),
      }),
      expect.objectContaining({
        ...common,
        message: end,
        function: 'run-operations',
        awsRequestId,
        durationMs: expect.any(Number),
      }),
    ]);
    expect(system.stderr).not.toContain('secret-of-the-manifest');
    expect(new Set(traces)).toEqual(new Set([headers.traceparent]));
  });
});
