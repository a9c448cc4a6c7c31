import { execFile, spawn } from 'node:child_process';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makePackage } from '#infra/tools/package/package.ts';
import packageJson from '#package.json' with { type: 'json' };
import { createNamespace, describeWithCluster } from '#test/support/cluster/cluster.ts';
import { makeTempDir, type TempDir } from '#test/support/run/temp-dir.ts';

const run = promisify(execFile);
const root = path.resolve(import.meta.dirname, '../../../..');
/** Where npm, and the sh of its scripts, are. */
const systemPath = '/usr/local/bin:/usr/bin:/bin';

let temp: TempDir;
/** An empty folder in which the package is installed. */
let work: string;
/** What somebody has who has just come: an empty home, no clone, no Go. */
let env: { readonly [name: string]: string };

beforeAll(async () => {
  temp = await makeTempDir();
  const [home, outputDir] = [path.join(temp.path, 'home'), path.join(temp.path, 'package')];
  work = path.join(temp.path, 'work');
  for (const folder of [home, work]) await mkdir(folder);
  await makePackage({ root, outputDir });
  env = { HOME: home, PATH: `${path.dirname(process.execPath)}:${systemPath}` };
  const { stdout } = await run('npm', ['pack', '--json', outputDir], { cwd: temp.path, env });
  const [{ filename }] = JSON.parse(stdout);
  const install = ['install', '--offline', '--no-audit', '--no-fund', path.join(temp.path, filename)];
  await run('npm', install, { cwd: work, env });
});
afterAll(() => temp[Symbol.asyncDispose]());

/** Runs `npx busdriver` there. */
const busdriver = (...words: string[]) => run('npx', ['busdriver', ...words], { cwd: work, env });

describe('the package, installed in an empty folder', () => {
  test('brings no other package, no sources and no tests', async () => {
    expect(await readdir(path.join(work, 'node_modules'))).toEqual([
      '.bin',
      '.package-lock.json',
      'busdriver',
    ]);
    const files = await readdir(path.join(work, 'node_modules/busdriver'), { recursive: true });
    expect(files.filter((file) => /\.(ts|map)$|_test\.go$/.test(file))).toEqual([]);
    expect(files).toEqual(expect.arrayContaining(['LICENSE', 'sbom.cdx.json', 'docs/quick-start.md']));
  });

  test('says what it is and how it is called', async () => {
    expect((await busdriver('--version')).stdout.trim()).toBe(packageJson.version);
    const { stdout } = await busdriver('start', '--help');
    expect(stdout).toMatch(/^Usage: busdriver start \[options\]/);
    expect(stdout).not.toContain('npm start');
    await expect(busdriver('start', '--prot')).rejects.toMatchObject({
      ...{ code: 2, stderr: expect.stringContaining("Try 'busdriver start --help'.") },
    });
    // What the command line reads of the documentation is there, too.
    expect((await busdriver('completion', 'bash')).stdout).toContain(
      path.join(work, 'node_modules/busdriver/cli/busdriver'),
    );
  });

  test('says in a line which Node it needs', async () => {
    const folder = path.join(temp.path, 'old');
    await mkdir(folder);
    await writeFile(path.join(folder, 'node'), '#!/bin/sh\necho v22.4.0\n', { mode: 0o755 });
    const launcher = path.join(work, 'node_modules/busdriver/cli/busdriver');
    const old = { ...env, PATH: `${folder}:${systemPath}` };
    await expect(run(launcher, ['start'], { env: old })).rejects.toMatchObject({
      ...{
        code: 1,
        stderr: expect.stringMatching(
          /^Busdriver runs on Node 24 or newer, and this is Node v22\.4\.0: .+\n$/,
        ),
      },
    });
  });
});

describeWithCluster('the package', (cluster) => {
  test('starts, takes an account and the demo, and ends in good order', async () => {
    await using namespace = await createNamespace('package');
    const args = ['busdriver', 'start', '--kubeconfig', cluster.kubeconfig, '--port', '0', '--json'];
    const server = spawn('npx', args, { cwd: work, env, stdio: ['ignore', 'pipe', 'ignore'] });
    const ended = new Promise<number | null>((resolve) => server.once('exit', resolve));
    const ready = await new Promise<{ readonly url: string; readonly pid: number }>((resolve, reject) => {
      server.stdout.once('data', (line: Buffer) => resolve(JSON.parse(line.toString())));
      void ended.then((code) => reject(new Error(`it ended with ${code} before it was ready`)));
    });
    try {
      const listed = await busdriver('--url', ready.url, '--output', 'json', 'accounts', 'list');
      expect(JSON.parse(listed.stdout)).toHaveLength(1);
      const demo = await busdriver('demo', '--url', ready.url, '--namespace', namespace.name);
      expect(demo.stdout).toMatch(/^ok deployment busdriverdemo-web: stable after /m);
    } finally {
      process.kill(ready.pid, 'SIGTERM');
    }
    expect(await ended).toBe(0);
  });
});
