import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  createNamespace,
  describeWithCluster,
  findObject,
  type TestNamespace,
} from '#test/support/cluster/cluster.ts';
import { makeTempDir, type TempDir } from '#test/support/run/temp-dir.ts';
import { type System, startSystem } from '#test/support/system/system.ts';
import { runCommand } from '../command-line.ts';

describeWithCluster('busdriver deploy and busdriver tasks', (cluster) => {
  let namespace: TestNamespace;
  let dir: TempDir;
  let system: System;
  beforeAll(async () => {
    dir = await makeTempDir();
    namespace = await createNamespace('cli');
    const accounts = [{ name: 'test', kubeconfigFile: cluster.kubeconfig }];
    system = await startSystem({ settings: { kubernetes: { accounts } } });
  });
  afterAll(async () => {
    for (const each of [system, namespace, dir]) await each?.[Symbol.asyncDispose]();
  });

  const run = (...words: readonly string[]) => runCommand([...words, '--url', system.url, '--user', 'ada']);

  async function deploy(text: string, ...more: readonly string[]) {
    const file = path.join(dir.path, 'objects.yaml');
    await writeFile(file, text);
    const where = ['--account', 'test', '--application', 'shop', '--namespace', namespace.name];
    return run('deploy', ...where, '-f', file, ...more);
  }

  const configMap = (value: string) => `
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, annotations: {strategy.spinnaker.io/versioned: "false"}}
data: {a: "${value}"}
`;
  const workload = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 1
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: "registry.test/web:1"}]}
`;

  test('shows what would change, does it, waits until it is stable, and has nothing left to change', async () => {
    const tried = await deploy(configMap('1'), '--dry-run');
    expect(tried.code).toBe(2);
    expect(tried.stdout).toContain('\n+  a: "1"\n');
    expect(await findObject(`/api/v1/namespaces/${namespace.name}/configmaps/settings`)).toBeUndefined();

    const done = await deploy(`${configMap('1')}---\n${workload}---\n`, '--wait');
    expect(done.code).toBe(0);
    expect(done.stderr).toMatch(/DEPLOY_KUBERNETES_MANIFEST +Submitting deployment web\n/);
    expect(done.stderr).toContain('deployment web is stable\n');
    expect(await deploy(configMap('1'), '--dry-run')).toMatchObject({ code: 0, stdout: '' });
    expect((await deploy(configMap('2'), '--dry-run')).stdout).toMatch(/\n- {2}a: "1"\n\+ {2}a: "2"\n/);
  });

  test('lists tasks, shows one, and cancels none that has ended', async () => {
    const failed = await deploy(
      'apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: wrong}\nspec: {replicas: 1}\n',
    );
    expect(failed.code).toBe(1);
    expect(failed.stderr).toMatch(/\nfailed: Deploying deployment wrong .+spec\.selector/);
    const listed = await run('tasks', '--account', 'test', '--state', 'FAILED', '--output', 'json');
    const [task, ...others] = JSON.parse(listed.stdout);
    expect(others).toEqual([]);
    expect(task).toMatchObject({ user: 'ada', applications: ['shop'], operations: ['deployManifest'] });
    expect((await run('tasks', '--by', 'ada')).stdout).toMatch(new RegExp(`^${task.id} +FAILED `, 'm'));

    const shown = await run('task', task.id, '--follow');
    expect(shown).toMatchObject({ code: 1, stderr: expect.stringContaining('Submitting deployment wrong') });
    const refused = { code: 1, stderr: expect.stringContaining(`task ${task.id} had ended before`) };
    expect(await run('cancel', task.id)).toMatchObject(refused);
    expect(await run('task', 'unknown')).toMatchObject({ code: 1, stderr: expect.stringContaining('404') });
  });

  test('says what is wrong with a file, before anything is sent', async () => {
    const before = await run('tasks', '--output', 'json', '--limit', '200');
    for (const [text, message] of [
      ['kind: [', /objects\.yaml: .*line 1/],
      ['a text', /objects\.yaml: document 1: expected an object of Kubernetes with a kind/],
      ['', /there is no object in what -f names/],
      ['a: &a [x]\nb: *a\n', /document 1: expected an object of Kubernetes with a kind/],
    ] as const)
      expect(await deploy(text)).toMatchObject({
        code: expect.any(Number),
        stderr: expect.stringMatching(message),
      });
    expect((await run('tasks', '--output', 'json', '--limit', '200')).stdout).toHaveLength(
      before.stdout.length,
    );
  });
});
