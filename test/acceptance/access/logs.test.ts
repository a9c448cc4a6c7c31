import { afterAll, beforeAll, expect, it } from 'vitest';
import { createConfigMap } from '#test/shared/providers/kubernetes/manifests.ts';
import { createNamespace, describeWithCluster, type TestNamespace } from '#test/support/cluster/cluster.ts';
import { type System, startSystem } from '#test/support/system/system.ts';

const headers = {
  'content-type': 'application/json',
  'X-SPINNAKER-USER': 'ada@example.com',
  'X-SPINNAKER-REQUEST-ID': 'request-4711',
  'X-SPINNAKER-EXECUTION-ID': '01HEXECUTION',
  'X-SPINNAKER-APPLICATION': 'shop',
};

const caller = {
  user: 'ada@example.com',
  requestId: 'request-4711',
  executionId: '01HEXECUTION',
  application: 'shop',
};

describeWithCluster('the log', (cluster) => {
  const stack = new AsyncDisposableStack();
  let namespace: TestNamespace;
  let system: System;
  beforeAll(async () => {
    namespace = stack.use(await createNamespace('logs'));
    const args = ['--log-level', 'info'];
    system = stack.use(await startSystem({ kubeconfig: cluster.kubeconfig, args }));
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
  });
});
