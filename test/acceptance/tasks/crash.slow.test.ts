import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { startApiProxy } from '#test/support/cluster/api-proxy.ts';
import { createNamespace, describeWithCluster, kubectl } from '#test/support/cluster/cluster.ts';
import { listOpenRows } from '#test/support/engines/open-rows.ts';
import { chooseSize } from '#test/support/run/test-size.ts';
import { itLocally } from '#test/support/system/subject.ts';
import { type System, startSystem } from '#test/support/system/system.ts';

const kills = chooseSize({ short: 3, long: 20 });
const tasksPerRound = 10;

interface Submission {
  readonly requestId: string;
  readonly name: string;
  readonly operations: readonly object[];
  id?: string;
}

interface TaskView {
  readonly status: { readonly completed: boolean; readonly failed: boolean };
  readonly history: readonly { readonly phase: string; readonly status: string }[];
  readonly resultObjects: readonly object[];
}

describeWithCluster('kill -9 of the whole process at random moments', (cluster) => {
  itLocally('there is no one process: see test/deploy')(
    `loses none of ${kills * tasksPerRound} operations`,
    async () => {
      await using namespace = await createNamespace('crash');
      // Slow calls keep operations in flight when the process dies.
      await using proxy = await startApiProxy(cluster, { getDelayMs: () => randomInt(20, 200) });
      await using system = await startSystem({ kubeconfig: proxy.kubeconfig });
      const reference = await runReference(system, namespace.name);
      const submissions: Submission[] = [];

      for (let round = 0; round < kills; round += 1) {
        const posting = Array.from({ length: tasksPerRound }, (_, index) => {
          const submission = toSubmission(namespace.name, round * tasksPerRound + index);
          submissions.push(submission);
          return post(system, submission);
        });
        await sleep(randomInt(5, 900));
        await system.kill('SIGKILL');
        await system.restart();
        await Promise.all(posting);
      }
      const views = await Promise.all(
        submissions.map(async ({ id = '' }) => system.waitForTask(id, { timeoutMs: 120_000 })),
      );

      expect(views.filter(({ status }) => status.failed)).toEqual([]);
      expect(new Set(submissions.map(({ id }) => id)).size).toBe(submissions.length);
      for (const [index, view] of views.entries()) {
        const { name } = submissions[index] as Submission;
        expect(toLines(view, name)).toEqual(reference);
        expect(view.resultObjects).toHaveLength(1);
      }
      await expectObjects(namespace.name, submissions);
      await system.idle();
      expect(await (await system.fetch('/task')).json()).toEqual([]);
      // Who was killed between the row and the header of a task leaves the row, which the next sweep removes.
      await expect.poll(() => listOpenRows(system.stores), { timeout: 90_000, interval: 500 }).toEqual([]);
    },
    600_000,
  );
});

/** The lines of the same operations when nothing goes wrong. */
async function runReference(system: System, namespace: string): Promise<string[]> {
  const submission = toSubmission(namespace, 9_999);
  await post(system, submission);
  const view = await system.waitForTask(submission.id ?? '', { timeoutMs: 60_000 });
  expect(view.status.failed).toBe(false);
  return toLines(view, submission.name);
}

/** A worker that died right after its call leaves an object that the next one truly finds unchanged. */
function toLines(view: TaskView, name: string): string[] {
  return view.history.map(({ phase, status }) => {
    const line = status.replaceAll(name, 'NAME').replace(/: (created|unchanged)$/, ': applied');
    return `${phase} ${line}`;
  });
}

/** Three objects of its own: a ConfigMap that gets a version, a Service, and a Deployment that uses the ConfigMap. */
function toSubmission(namespace: string, index: number): Submission {
  const name = `crash-${index}`;
  const metadata = { name, namespace };
  const template = {
    metadata: { labels: { app: name } },
    spec: {
      containers: [{ name: 'main', image: 'example.invalid/app:1', envFrom: [{ configMapRef: { name } }] }],
    },
  };
  const manifests = [
    { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { index: String(index) } },
    { apiVersion: 'v1', kind: 'Service', metadata, spec: { selector: { app: name }, ports: [{ port: 80 }] } },
    {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata,
      spec: { replicas: 0, selector: { matchLabels: { app: name } }, template },
    },
  ];
  const description = {
    account: 'test',
    cloudProvider: 'kubernetes',
    moniker: { app: name },
    source: 'text',
    manifests,
  };
  return { requestId: `crash-${index}-${namespace}`, name, operations: [{ deployManifest: description }] };
}

/** Posts as Orca does: again with the same id until it has an answer. */
async function post(system: System, submission: Submission): Promise<void> {
  for (;;) {
    try {
      submission.id = await system.postOperations(submission.operations, {
        clientRequestId: submission.requestId,
      });
      return;
    } catch {
      await sleep(50);
    }
  }
}

async function expectObjects(namespace: string, submissions: readonly Submission[]): Promise<void> {
  const text = await kubectl(['-n', namespace, 'get', 'configmap,service,deployment', '-o', 'json']);
  const { items } = JSON.parse(text) as { items: LiveObject[] };
  const found = new Map(items.map((item) => [`${item.kind}/${item.metadata.name}`, item]));
  for (const { name } of submissions) {
    expect(found.get(`ConfigMap/${name}-v000`)?.data).toEqual({ index: name.slice('crash-'.length) });
    expect(found.has(`Service/${name}`)).toBe(true);
    const [container] = found.get(`Deployment/${name}`)?.spec?.template?.spec.containers ?? [];
    expect(container?.envFrom).toEqual([{ configMapRef: { name: `${name}-v000` } }]);
  }
  const versions = items.filter(
    (item) => item.kind === 'ConfigMap' && item.metadata.name.startsWith('crash-'),
  );
  expect(versions).toHaveLength(submissions.length + 1);
}

interface LiveObject {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly data?: object;
  readonly spec?: {
    readonly template?: { readonly spec: { readonly containers: { envFrom?: object[] }[] } };
  };
}
