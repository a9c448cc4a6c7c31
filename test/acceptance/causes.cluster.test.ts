import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runCommand } from '#test/cli/command-line.ts';
import {
  createNamespace,
  describeWithCluster,
  requestApi,
  type TestNamespace,
} from '#test/support/cluster/cluster.ts';
import { type ClosableDoor, startClosableDoor } from '#test/support/network/closable-door.ts';
import { makeTempDir } from '#test/support/run/temp-dir.ts';
import { type System, startSystem } from '#test/support/system/system.ts';

/** What is wrong, and by which words each place says so. */
interface Trouble {
  readonly account: string;
  /** Makes the trouble, and returns the operation that meets it. */
  begin(): Promise<object>;
  /** In the status or the failure of the task, its page, and what the command line prints of it. */
  readonly task?: RegExp;
  /** In the status of the object that was deployed. */
  readonly object?: { readonly name: string; readonly words: RegExp };
  /** In the health of the account. */
  readonly health: { readonly state: string; readonly reason?: RegExp };
}

describeWithCluster('what is wrong', (cluster) => {
  const stack = new AsyncDisposableStack();
  let namespace: TestNamespace;
  let door: ClosableDoor;
  let system: System;
  let manifestFile: string;

  beforeAll(async () => {
    namespace = stack.use(await createNamespace('causes'));
    const temp = stack.use(await makeTempDir());
    manifestFile = path.join(temp.path, 'workload.json');
    const kubeconfig = await readFile(cluster.kubeconfig, 'utf8');
    const [address = '', port = ''] = /https:\/\/127\.0\.0\.1:(\d+)/.exec(kubeconfig) ?? [];
    door = stack.use(await startClosableDoor(Number(port)));
    const accounts = [
      { name: 'near', kubeconfigFile: cluster.kubeconfig },
      { name: 'away', kubeconfigContents: kubeconfig.replace(address, `https://127.0.0.1:${door.port}`) },
      { name: 'fileless', kubeconfigFile: path.join(temp.path, 'missing') },
    ];
    // Longer than the test may take on a busy machine.
    const busdriver = { operations: { clusterWaitSeconds: 3_600 } };
    system = stack.use(await startSystem({ settings: { busdriver, kubernetes: { accounts } } }));
  });
  afterAll(() => stack.disposeAsync());

  const deploy = (account: string, manifest: object) => ({
    deployManifest: {
      account,
      moniker: { app: 'causes' },
      manifests: [manifest],
      namespaceOverride: namespace.name,
    },
  });
  const toWorkload = (name: string, image: string) => ({
    ...{ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name } },
    spec: {
      selector: { matchLabels: { run: name } },
      template: { metadata: { labels: { run: name } }, spec: { containers: [{ name: 'main', image }] } },
    },
  });
  const settings = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'settings' } };

  const troubles: { readonly [name: string]: Trouble } = {
    'an unreachable cluster': {
      account: 'away',
      async begin() {
        await door.shut();
        const read = async () => (await system.fetch('/manifests/away/default/configMap%20none')).status;
        await expect.poll(read).toBe(503);
        return deploy('away', settings);
      },
      task: /Waiting for the cluster of account away \(since .*, until .*\)/,
      health: { state: 'DOWN', reason: /the connection was refused; is the API server up/ },
    },
    'a finalizer': {
      account: 'near',
      async begin() {
        const metadata = { name: 'held', finalizers: ['busdriver.test/hold'] };
        await requestApi('POST', `/api/v1/namespaces/${namespace.name}/configmaps`, {
          ...settings,
          metadata,
        });
        return {
          deleteManifest: { account: 'near', location: namespace.name, manifestName: 'configMap held' },
        };
      },
      task: /Waiting for configMap held to be gone, held by busdriver\.test\/hold \(since .*, until .*\)/,
      health: { state: 'UP' },
    },
    'a bad image': {
      account: 'near',
      async begin() {
        const workload = toWorkload('unpulled', 'registry.invalid/web:1');
        await writeFile(manifestFile, JSON.stringify(workload));
        return deploy('near', workload);
      },
      object: { name: 'deployment unpulled', words: /ErrImagePull|ImagePullBackOff/ },
      health: { state: 'UP' },
    },
    'a quota': {
      account: 'near',
      async begin() {
        await requestApi('POST', `/api/v1/namespaces/${namespace.name}/resourcequotas`, {
          ...{ apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'none' } },
          spec: { hard: { services: '0' } },
        });
        const metadata = { name: 'refused' };
        return deploy('near', {
          apiVersion: 'v1',
          kind: 'Service',
          metadata,
          spec: { ports: [{ port: 80 }] },
        });
      },
      task: /exceeded quota: none, requested: services=1/,
      health: { state: 'UP' },
    },
    'a missing kubeconfig': {
      account: 'fileless',
      begin: async () => deploy('fileless', settings),
      task: /kubeconfigFile .+missing: ENOENT: no such file or directory/,
      health: {
        state: 'DEGRADED',
        reason: /its settings cannot be used: GET \/cache\/introspection says why/,
      },
    },
  };

  const run = (...words: readonly string[]) => runCommand([...words, '--url', system.url]);
  const readJson = async (target: string) => (await system.fetch(target)).json();
  const readPage = async (target: string) => (await system.fetch(target)).text();

  describe.each(Object.entries(troubles))('%s', (_, { account, begin, task, object, health }) => {
    test('is said by the task, the command line, the page and the health', async () => {
      const id = await system.postOperations([await begin()]);
      if (task !== undefined) {
        await expect.poll(async () => JSON.stringify(await readJson(`/task/${id}`))).toMatch(task);
        const shown = await run('task', id);
        expect(shown.stdout + shown.stderr).toMatch(task);
        expect((await run('tasks', '--account', account)).stdout).toMatch(task);
        for (const page of ['/status', `/status?task=${id}`]) expect(await readPage(page)).toMatch(task);
      }
      if (object !== undefined) {
        const path = `manifests/${account}/${namespace.name}/${encodeURIComponent(object.name)}`;
        await expect.poll(async () => JSON.stringify(await readJson(`/${path}`))).toMatch(object.words);
        // The page of the task leads there.
        await system.waitForTask(id);
        expect(await readPage(`/status?task=${id}`)).toContain(`<a href="${path}">`);
        const words = ['--account', account, '--application', 'causes', '--namespace', namespace.name];
        const again = ['-f', manifestFile, '--wait', '--timeout', '1'];
        expect(await run('deploy', ...words, ...again)).toMatchObject({
          code: 1,
          stderr: expect.stringMatching(object.words),
        });
      }
      const [name, reason] = [account, health.reason];
      await expect
        .poll(() => readJson(`/credentials/${name}/health`))
        .toMatchObject({ state: health.state, ...(reason && { reason: expect.stringMatching(reason) }) });
      const row = new RegExp(`<td>${name}</td>\\s*<td>(<span class="bad">)?${health.state}<`);
      expect(await readPage('/status')).toMatch(row);
    });
  });
});
