import { setTimeout as sleep } from 'node:timers/promises';
import { CoreV1Api } from '@kubernetes/client-node';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type PassingCall, startApiProxy } from '#test/support/cluster/api-proxy.ts';
import { createNamespace, describeWithCluster, type TestNamespace } from '#test/support/cluster/cluster.ts';
import { openApi } from '#test/support/cluster/cluster-api.ts';
import { toDeploy } from '#test/support/system/config-map-deploy.ts';
import { itLocally, startSubject } from '#test/support/system/subject.ts';
import { type Subject, startSystem } from '#test/support/system/system.ts';

describeWithCluster('the routes of tasks', (cluster) => {
  const stack = new AsyncDisposableStack();
  /** Writes go on when it resolves. */
  let opened = Promise.resolve();
  let namespace: TestNamespace;
  let system: Subject;

  beforeAll(async () => {
    namespace = stack.use(await createNamespace('tasks'));
    const before = async ({ method }: PassingCall) => (method === 'GET' ? undefined : opened);
    const proxy = stack.use(await startApiProxy(cluster, { before }));
    system = stack.use(await startSubject({ kubeconfig: proxy.kubeconfig }));
  });
  afterAll(() => stack.disposeAsync());

  /** Holds writes back until it is opened: what deploys something runs until then. */
  function shutGate(): Disposable & { open(): void } {
    const { promise, resolve } = Promise.withResolvers<void>();
    opened = promise;
    return { open: resolve, [Symbol.dispose]: resolve };
  }

  /** Posts a deploy of a ConfigMap, and waits until it has an owner. */
  async function startDeploy(name: string, options: { clientRequestId?: string } = {}): Promise<string> {
    const id = await system.postOperations([toDeploy('test', namespace.name, [name])], options);
    while ((await getJson(`/task/${id}`))['ownerId'] === '') await sleep(5);
    return id;
  }

  async function getJson(path: string): Promise<Answer> {
    return (await (await system.fetch(path)).json()) as Answer;
  }

  async function send(method: string, path: string, body: object): Promise<Answer> {
    const headers = { 'content-type': 'application/json' };
    const response = await system.fetch(path, { method, headers, body: JSON.stringify(body) });
    expect(response.status).toBe(200);
    return (await response.json()) as Answer;
  }

  it('tell a task that runs: its state, its owner, and that it is among the running ones', async () => {
    using gate = shutGate();
    const id = await startDeploy('one');
    const task = await getJson(`/task/${id}`);
    const running = (await getJson('/task')) as unknown as { id: string }[];
    const owner = await getJson(`/kubernetes/task/${id}/owner`);
    gate.open();

    expect(task).toMatchObject({ id, status: { completed: false, failed: false, retryable: false } });
    expect(running.map((one) => one.id)).toContain(id);
    expect(task['ownerId']).toMatch(/^\w+@.+$/);
    expect(owner).toEqual({ name: String(task['ownerId']).split('@')[1] });
    expect((await system.waitForTask(id)).status.failed).toBe(false);
    await system.idle();
    expect(await getJson('/task')).toEqual([]);
  });

  it.each(['/kubernetes/ops', '/ops'])(
    'POST %s without any operation is a task that completes, as Orca may ask for',
    async (path) => {
      const { id } = (await send('POST', path, [])) as { id: string };
      const task = await system.waitForTask(id);
      expect(task.status).toMatchObject({ completed: true, failed: false, retryable: false });
      expect(task.resultObjects).toEqual([]);
      expect(task.history.map(({ status }) => status)).toEqual([
        'Initializing Orchestration Task',
        'Orchestration completed.',
      ]);
    },
  );

  it('end a running task from outside, and run it again with other operations, as Orca may', async () => {
    using gate = shutGate();
    const id = await startDeploy('first');
    expect(await send('PATCH', `/kubernetes/task/${id}`, { retry: true })).toMatchObject({
      status: { completed: true, failed: true, retryable: true },
      retryable: true,
    });
    gate.open();
    const second = [toDeploy('test', namespace.name, ['second'])];
    const restarted = await send('POST', `/kubernetes/task/${id}/restart`, second);
    expect(restarted).toEqual({ id, resourceUri: `/task/${id}` });

    const task = await system.waitForTask(id);
    expect(task.status).toMatchObject({ completed: true, failed: false });
    const { items } = await openApi(CoreV1Api).listNamespacedConfigMap({ namespace: namespace.name });
    expect(items.map(({ metadata }) => metadata?.name)).toContain('second');
  });

  it('resume a retryable task with its own operations, and no other', async () => {
    using gate = shutGate();
    const id = await startDeploy('resumed');
    await send('PATCH', `/kubernetes/task/${id}`, { retry: true });
    gate.open();

    expect(await send('POST', `/task/${id}:resume`, {})).toMatchObject({ id });
    expect((await system.waitForTask(id)).status.failed).toBe(false);

    const again = await system.fetch(`/task/${id}:resume`, { method: 'POST', body: '{}' });
    expect(again.status).toBe(400);
    expect(((await again.json()) as { errors: string[] }).errors[0]).toMatch(/its state is COMPLETED/);
  });

  it('answer a retryable task that is posted again under its id by running it anew', async () => {
    using gate = shutGate();
    const request = { clientRequestId: 'posted-again' };
    const id = await startDeploy('posted', request);
    await send('PATCH', `/kubernetes/task/${id}`, { retry: true });
    gate.open();

    const operations = [toDeploy('test', namespace.name, ['posted'])];
    expect(await system.postOperations(operations, request)).toBe(id);
    expect((await system.waitForTask(id)).status).toMatchObject({ completed: true, failed: false });
  });

  it('go to the bus', async () => {
    const user = 'somebody@example.com';
    const id = await system.postOperations([toDeploy('test', namespace.name, ['published'])], { user });
    await system.waitForTask(id);
    await system.idle();

    const own = (await system.readEvents()).filter(({ detail }) => detail['taskId'] === id);
    expect(own.map((event) => event['detail-type'])).toEqual(
      expect.arrayContaining(['TaskAccepted', 'TaskStepCompleted', 'TaskCompleted']),
    );
    expect(own.at(-1)).toMatchObject({
      source: 'busdriver',
      detail: { account: 'test', user, state: 'COMPLETED' },
    });
  });

  itLocally('it ends the one process')(
    'stop in order on SIGTERM: a running task goes on with the next start',
    async () => {
      await using proxy = await startApiProxy(cluster, { getDelayMs: () => 150 });
      await using stopped = await startSystem({ kubeconfig: proxy.kubeconfig });
      const ids = await Promise.all(
        Array.from({ length: 20 }, (_, index) =>
          stopped.postOperations([toDeploy('test', namespace.name, [`drained-${index}`])]),
        ),
      );

      const { code } = await stopped.kill('SIGTERM');
      await stopped.restart();
      const tasks = await Promise.all(ids.map((id) => stopped.waitForTask(id, { timeoutMs: 90_000 })));

      expect(code).toBe(0);
      expect(tasks.filter(({ status }) => status.failed)).toEqual([]);
    },
  );
});

type Answer = { readonly [name: string]: unknown };
