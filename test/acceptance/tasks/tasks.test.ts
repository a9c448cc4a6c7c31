import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { type ApiProxy, type PassingCall, startApiProxy } from '#test/support/cluster/api-proxy.ts';
import {
  createNamespace,
  describeWithCluster,
  kubectl,
  type TestCluster,
} from '#test/support/cluster/cluster.ts';
import { itLocally, startSubject } from '#test/support/system/subject.ts';
import { type Subject, startSystem } from '#test/support/system/system.ts';

describeWithCluster('the routes of tasks', (cluster) => {
  it('tell a task that runs: its state, its owner, and that it is among the running ones', async () => {
    await using namespace = await createNamespace('tasks');
    await using proxy = await startGate(cluster);
    await using system = await startSubject({ kubeconfig: proxy.kubeconfig });

    const id = await system.postOperations(deployConfigMap(namespace.name, 'one'));
    await untilOwned(system, id);
    const task = await getJson(system, `/task/${id}`);
    const running = (await getJson(system, '/task')) as unknown as { id: string }[];
    const owner = await getJson(system, `/kubernetes/task/${id}/owner`);
    proxy.open();

    expect(task).toMatchObject({ id, status: { completed: false, failed: false, retryable: false } });
    expect(running.map((one) => one.id)).toContain(id);
    expect(task['ownerId']).toMatch(/^\w+@.+$/);
    expect(owner).toEqual({ name: String(task['ownerId']).split('@')[1] });
    expect((await system.waitForTask(id)).status.failed).toBe(false);
    await system.idle();
    expect(await getJson(system, '/task')).toEqual([]);
  });

  it.each(['/kubernetes/ops', '/ops'])(
    'POST %s without any operation is a task that completes, as Orca may ask for',
    async (path) => {
      await using system = await startSubject({ kubeconfig: cluster.kubeconfig });
      const { id } = (await send(system, { method: 'POST', path, body: [] })) as { id: string };
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
    await using namespace = await createNamespace('tasks');
    await using proxy = await startGate(cluster);
    await using system = await startSubject({ kubeconfig: proxy.kubeconfig });
    const id = await system.postOperations(deployConfigMap(namespace.name, 'first'));
    await untilOwned(system, id);

    const ended = await send(system, {
      method: 'PATCH',
      path: `/kubernetes/task/${id}`,
      body: { retry: true },
    });
    expect(ended).toMatchObject({
      status: { completed: true, failed: true, retryable: true },
      retryable: true,
    });
    proxy.open();
    const restarted = await send(system, {
      method: 'POST',
      path: `/kubernetes/task/${id}/restart`,
      body: deployConfigMap(namespace.name, 'second'),
    });
    expect(restarted).toEqual({ id, resourceUri: `/task/${id}` });

    const task = await system.waitForTask(id);
    expect(task.status).toMatchObject({ completed: true, failed: false });
    expect(await kubectl(['-n', namespace.name, 'get', 'configmaps', '-o', 'name'])).toContain('second');
  });

  it('resume a retryable task with its own operations, and no other', async () => {
    await using namespace = await createNamespace('tasks');
    await using proxy = await startGate(cluster);
    await using system = await startSubject({ kubeconfig: proxy.kubeconfig });
    const id = await system.postOperations(deployConfigMap(namespace.name, 'resumed'));
    await untilOwned(system, id);
    await send(system, { method: 'PATCH', path: `/kubernetes/task/${id}`, body: { retry: true } });
    proxy.open();

    expect(await send(system, { method: 'POST', path: `/task/${id}:resume`, body: {} })).toMatchObject({
      id,
    });
    expect((await system.waitForTask(id)).status.failed).toBe(false);

    const again = await system.fetch(`/task/${id}:resume`, { method: 'POST', body: '{}' });
    expect(again.status).toBe(400);
    expect(((await again.json()) as { errors: string[] }).errors[0]).toMatch(/its state is COMPLETED/);
  });

  it('answer a retryable task that is posted again under its id by running it anew', async () => {
    await using namespace = await createNamespace('tasks');
    await using proxy = await startGate(cluster);
    await using system = await startSubject({ kubeconfig: proxy.kubeconfig });
    const operations = deployConfigMap(namespace.name, 'posted');
    const id = await system.postOperations(operations, { clientRequestId: 'posted-again' });
    await untilOwned(system, id);
    await send(system, { method: 'PATCH', path: `/kubernetes/task/${id}`, body: { retry: true } });
    proxy.open();

    expect(await system.postOperations(operations, { clientRequestId: 'posted-again' })).toBe(id);

    expect((await system.waitForTask(id)).status).toMatchObject({ completed: true, failed: false });
  });

  itLocally('it ends the one process')(
    'stop in order on SIGTERM: a running task goes on with the next start',
    async () => {
      await using namespace = await createNamespace('tasks');
      await using proxy = await startApiProxy(cluster, { getDelayMs: () => 150 });
      await using system = await startSystem({ kubeconfig: proxy.kubeconfig });
      const ids = await Promise.all(
        Array.from({ length: 20 }, (_, index) =>
          system.postOperations(deployConfigMap(namespace.name, `drained-${index}`)),
        ),
      );

      const { code } = await system.kill('SIGTERM');
      await system.restart();
      const tasks = await Promise.all(ids.map((id) => system.waitForTask(id, { timeoutMs: 90_000 })));

      expect(code).toBe(0);
      expect(tasks.filter(({ status }) => status.failed)).toEqual([]);
    },
  );

  it('go to the bus', async () => {
    await using namespace = await createNamespace('tasks');
    await using system = await startSubject({ kubeconfig: cluster.kubeconfig });
    const id = await system.postOperations(
      deployConfigMap(namespace.name, 'published', system.accounts[0] ?? ''),
      { user: 'somebody@example.com' },
    );
    await system.waitForTask(id);
    await system.idle();

    const own = (await system.readEvents()).filter(({ detail }) => detail['taskId'] === id);
    expect(own.map((event) => event['detail-type'])).toEqual(
      expect.arrayContaining(['TaskAccepted', 'TaskStepCompleted', 'TaskCompleted']),
    );
    expect(own.at(-1)).toMatchObject({
      source: 'busdriver',
      detail: { account: system.accounts[0], user: 'somebody@example.com', state: 'COMPLETED' },
    });
  });
});

type Answer = { readonly [name: string]: unknown };

function deployConfigMap(namespace: string, name: string, account = 'test'): object[] {
  const manifest = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace }, data: { name } };
  return [{ deployManifest: { account, moniker: { app: name }, manifests: [manifest] } }];
}

async function getJson(system: Subject, path: string): Promise<Answer> {
  return (await (await system.fetch(path)).json()) as Answer;
}

async function send(
  system: Subject,
  { method, path, body }: { method: string; path: string; body: object },
): Promise<Answer> {
  const headers = { 'content-type': 'application/json' };
  const response = await system.fetch(path, { method, headers, body: JSON.stringify(body) });
  expect(response.status).toBe(200);
  return (await response.json()) as Answer;
}

/** A proxy that holds writes back until it is opened: what deploys something runs until then. */
async function startGate(
  cluster: TestCluster,
): Promise<Pick<ApiProxy, 'kubeconfig'> & { open(): void } & AsyncDisposable> {
  const gate = Promise.withResolvers<void>();
  const before = ({ method }: PassingCall) => (method === 'GET' ? Promise.resolve() : gate.promise);
  const { kubeconfig, [Symbol.asyncDispose]: dispose } = await startApiProxy(cluster, { before });
  return {
    kubeconfig,
    open: gate.resolve,
    [Symbol.asyncDispose]() {
      gate.resolve();
      return dispose();
    },
  };
}

async function untilOwned(system: Subject, id: string): Promise<void> {
  while ((await getJson(system, `/task/${id}`))['ownerId'] === '') await sleep(5);
}
