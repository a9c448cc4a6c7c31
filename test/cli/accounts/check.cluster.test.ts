import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { describeWithCluster, type TestCluster } from '#test/support/cluster/cluster.ts';
import { makeTempDir, type TempDir } from '#test/support/run/temp-dir.ts';
import { type System, startSystem } from '#test/support/system/system.ts';
import { runCommand } from '../command-line.ts';

/** A line of `busdriver accounts check`. */
interface Row {
  readonly check: string;
  readonly state: string;
  readonly found: string;
  readonly next?: string;
}

describeWithCluster('busdriver accounts check', (cluster: TestCluster) => {
  const stack = new AsyncDisposableStack();
  let dir: TempDir;
  let system: System;

  beforeAll(async () => {
    dir = stack.use(await makeTempDir());
    // As it comes: from this machine, a kubeconfig with a key is accepted.
    system = stack.use(await startSystem({ settings: {} }));
    const added = await run('add', 'real', '--kubeconfig', cluster.kubeconfig);
    expect(added).toMatchObject({ code: 0 });
  });
  afterAll(() => stack.disposeAsync());

  async function run(...words: readonly string[]) {
    return runCommand(['accounts', ...words, '--url', system.url]);
  }

  async function check(
    ...options: readonly string[]
  ): Promise<{ code: number | null; rows: readonly Row[] }> {
    const { code, stdout } = await run('check', 'real', ...options, '--output', 'json');
    return { code, rows: JSON.parse(stdout) };
  }

  it('tells that an account works whose kubeconfig it has just sent', async () => {
    const findCaching = async () => (await check()).rows.find((row) => row.check === 'caching')?.state;
    await expect.poll(findCaching, { interval: 1_000 }).toBe('ok');
    const { code, stdout, stderr } = await run('check', 'real');
    expect(code).toBe(0);
    expect(stdout).toMatch(/^caching +ok +the cluster is read, [\d.]+s behind at most$/m);
    expect(stderr).toBe(
      'Not looked at: version, rights and clock of the cluster. With --kubeconfig FILE they are.\n',
    );
    expect((await run('list')).stdout).toMatch(/^real +kubernetes +store .*[\d.]+s /m);
  });

  it('compare says how to see that it is over', async () => {
    const { code, stdout, stderr } = await run('compare', 'real');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^What is cached of real is compared .* 'details.compared' .* or later\n$/);
  });

  it('tells version, clock and rights of the cluster for whom the kubeconfig is', async () => {
    const { rows } = await check('--kubeconfig', cluster.kubeconfig);
    const found = rows
      .filter((row) => /cluster|rights/.test(row.check))
      .map((row) => [row.check, row.state, row.found]);
    expect(found).toEqual([
      ['cluster', 'ok', expect.stringMatching(/^answers, version v1\.\d+/)],
      ['clock of the cluster', 'ok', "within 5s of Busdriver's"],
      [
        'rights to read',
        'ok',
        expect.stringMatching(/^all \d+ of docs\/examples\/rbac-read\.yaml in all namespaces$/),
      ],
      [
        'rights to deploy',
        'ok',
        expect.stringMatching(/^all \d+ of docs\/examples\/rbac-deploy\.yaml in namespace default$/),
      ],
    ]);
  });

  it('names each right that is missing', async () => {
    const kubeconfig = parse(await readFile(cluster.kubeconfig, 'utf8'));
    for (const { user } of kubeconfig.users) user.as = 'nobody-of-this-test';
    const file = path.join(dir.path, 'nobody');
    await writeFile(file, stringify(kubeconfig));

    const { code, rows } = await check('--kubeconfig', file, '--namespace', 'shop');
    expect(code).toBe(1);
    const failed = rows.filter(({ state }) => state === 'failed');
    expect(failed).toContainEqual({
      check: 'rights to read',
      state: 'failed',
      found: 'pods/log: no get in namespace shop',
    });
    expect(failed).toContainEqual({
      check: 'rights to read',
      state: 'failed',
      found: 'namespaces: no get, list, watch',
    });
    expect(failed).toContainEqual({
      check: 'rights to deploy',
      state: 'failed',
      found: 'deployments.apps: no get, list, create, patch, update, delete in namespace shop',
    });
    expect(failed.map(({ next }) => next).filter((next) => next !== undefined)).toEqual([
      'apply docs/examples/rbac-read.yaml, or what of it you need',
      'apply docs/examples/rbac-deploy.yaml, or what of it you need',
    ]);
  });

  it('tells when the cluster does not answer', async () => {
    const kubeconfig = parse(await readFile(cluster.kubeconfig, 'utf8'));
    for (const each of kubeconfig.clusters) each.cluster.server = 'https://127.0.0.1:9';
    const file = path.join(dir.path, 'silent');
    await writeFile(file, stringify(kubeconfig));
    const { code, rows } = await check('--kubeconfig', file);
    expect(code).toBe(1);
    expect(rows.at(-1)).toMatchObject({
      check: 'cluster',
      state: 'failed',
      found: expect.stringContaining('ECONNREFUSED'),
    });
  });
});
