import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildLocal } from '#infra/tools/build/build.ts';
import {
  createNamespace,
  describeWithCluster,
  findObject,
  kubectl,
  requestApi,
  type TestNamespace,
} from '#test/support/cluster/cluster.ts';
import { type System, startSystem } from '#test/support/system/system.ts';

const root = path.resolve(import.meta.dirname, '../../..');
const outputDir = path.join(root, 'dist', 'local');

beforeAll(() => buildLocal({ root, outputDir }));

describeWithCluster('npm run demo', (cluster) => {
  let system: System;

  beforeAll(async () => {
    system = await startSystem({ kubeconfig: cluster.kubeconfig });
  });
  afterAll(() => system?.[Symbol.asyncDispose]());

  it('deploys the application, shows its task and rollout until stable, and deletes it again', async () => {
    await using namespace = await createNamespace('demo');

    const demo = await runDemo(['--kubeconfig', cluster.kubeconfig, '--namespace', namespace.name]);

    expect(demo).toMatchObject({ code: 0, stderr: '' });
    for (const name of ['configMap busdriverdemo-page-v000', 'deployment busdriverdemo-web']) {
      expect(demo.stdout).toMatch(new RegExp(`^ok ${name}: stable after [\\d.]+ m?s$`, 'm'));
    }
    expect(demo.stdout).toContain('\nok service busdriverdemo-web: stable');
    expect(demo.stdout).toMatch(/DEPLOY_KUBERNETES_MANIFEST +Submitting deployment busdriverdemo-web/);
    expect(demo.stdout).toMatch(/curl -s 'http:\S+\/deployment%20busdriverdemo-web/);
    expect(await listLeftovers(namespace)).toBe('');
  });

  it('leaves the application with --keep, and finds it unchanged the next time', async () => {
    await using namespace = await createNamespace('demo');
    const args = ['--url', system.url, '--namespace', namespace.name];

    const first = await runDemo([...args, '--keep']);
    const kept = await findDeployment(namespace);
    const second = await runDemo(args);

    expect(first).toMatchObject({ code: 0, stderr: '' });
    expect(kept).toMatchObject({
      spec: { template: { spec: { volumes: [{ configMap: { name: 'busdriverdemo-page-v000' } }] } } },
      status: { readyReplicas: 3 },
    });
    expect(second).toMatchObject({ code: 0, stderr: '' });
    expect(second.stdout).toContain('\nok configMap busdriverdemo-page-v000: stable');
    expect(await listLeftovers(namespace)).toBe('');
  });

  it('ends with 1 and the reason when the rollout does not become stable in time, and cleans up', async () => {
    await using namespace = await createNamespace('demo');
    await forbidPods(namespace);

    const args = ['--url', system.url, '--namespace', namespace.name, '--timeout', '3'];
    const demo = await runDemo(args);

    expect(demo.code).toBe(1);
    expect(demo.stderr).toMatch(/^After 3 s \(--timeout\): Not stable: deployment busdriverdemo-web: .+/);
    expect(await listLeftovers(namespace)).toBe('');
  });

  it('cleans up when it is interrupted', async () => {
    await using namespace = await createNamespace('demo');
    await forbidPods(namespace);

    const demo = await runDemo(['--kubeconfig', cluster.kubeconfig, '--namespace', namespace.name], {
      onOutput: (output, child) => {
        if (!child.killed && output.includes('.. deployment busdriverdemo-web')) child.kill('SIGINT');
      },
    });

    expect(demo).toMatchObject({ code: 1, stderr: 'Interrupted\n' });
    expect(await listLeftovers(namespace)).toBe('');
  });

  it('tells the reason when the deploy is refused', async () => {
    const demo = await runDemo(['--url', system.url, '--namespace', 'there-is-none']);

    expect(demo.code).toBe(1);
    expect(demo.stderr).toMatch(/Task \S+ failed: .*namespaces "there-is-none" not found/);
  });

  it('tells which accounts there are when it is told another', async () => {
    const demo = await runDemo(['--url', system.url, '--account', 'nobody']);

    expect(demo.code).toBe(1);
    expect(demo.stderr).toContain("There is no account 'nobody'");
    expect(demo.stderr).toContain(system.accounts[0]);
  });

  it('brings cluster and Busdriver along, and takes both away again', async () => {
    const demo = await runDemo([]);

    expect(demo).toMatchObject({ code: 0, stderr: '' });
    const url = /at (http:\S+)/.exec(demo.stdout)?.[1] ?? '';
    await expect(fetch(`${url}/health`)).rejects.toThrow();
  });
});

describe('the command line of the demo', () => {
  it.each([
    { args: ['--keeep'], message: "Unknown option '--keeep'" },
    { args: ['--timeout', '0'], message: '--timeout must be a number of seconds' },
    { args: ['--url', 'localhost'], message: '--url must be an address' },
    { args: ['--kubeconfig', '/no/such/file'], message: "there is no file '/no/such/file'" },
    { args: ['--url', 'http://127.0.0.1:1', '--kubeconfig', root], message: 'exclude each other' },
  ])('refuses $args', async ({ args, message }) => {
    const demo = await runDemo(args);

    expect(demo).toMatchObject({ code: 2, stdout: '' });
    expect(demo.stderr).toContain(message);
    expect(demo.stderr).toContain('npm run demo -- --help');
  });

  it('tells when nobody answers', async () => {
    const demo = await runDemo(['--url', 'http://127.0.0.1:1']);

    expect(demo.code).toBe(1);
    expect(demo.stderr).toContain('http://127.0.0.1:1 does not answer');
  });
});

interface DemoRun {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

interface RunDemoOptions {
  /** Called with all output so far, whenever there is more. */
  readonly onOutput?: (output: string, child: ChildProcess) => void;
}

async function runDemo(args: readonly string[], { onOutput }: RunDemoOptions = {}): Promise<DemoRun> {
  const child = spawn(process.execPath, [path.join(outputDir, 'demo.js'), ...args]);
  let stdout = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    stdout += chunk;
    onOutput?.(stdout, child);
  });
  const [stderr, [code]] = await Promise.all([text(child.stderr), once(child, 'close')]);
  expect(stdout).not.toContain('\u001b');
  return { code, stdout, stderr };
}

function findDeployment({ name }: TestNamespace): Promise<unknown> {
  return findObject(`/apis/apps/v1/namespaces/${name}/deployments/busdriverdemo-web`);
}

async function forbidPods({ name }: TestNamespace): Promise<void> {
  await requestApi('POST', `/api/v1/namespaces/${name}/resourcequotas`, {
    apiVersion: 'v1',
    kind: 'ResourceQuota',
    metadata: { name: 'no-pods' },
    spec: { hard: { pods: '0' } },
  });
}

function listLeftovers({ name }: TestNamespace): Promise<string> {
  const label = 'app.kubernetes.io/name=busdriverdemo';
  const kinds = 'deployments,services,configmaps';
  return kubectl(['--namespace', name, 'get', kinds, '--selector', label, '--output', 'name']);
}
