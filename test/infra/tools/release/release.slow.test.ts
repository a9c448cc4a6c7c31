import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chown, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hostProgram } from '#infra/kubernetes/cli-options.ts';
import { agentNodeOptions, memorySettings, nodeOptions } from '#infra/local/memory-settings.ts';
import { formatHelp } from '#infra/options.ts';
import { readFirstLine } from '#infra/tools/child-process.ts';
import packageJson from '#package.json' with { type: 'json' };
import { describeWithGo } from '#test/support/cluster/go-program.ts';
import { makeTempDir, type TempDir } from '#test/support/run/temp-dir.ts';
import { describeWithImages, imagesMissing, startContainer, unpackImage } from './image-process.ts';

const run = promisify(execFile);
const root = path.resolve(import.meta.dirname, '../../../..');
/** Where npm, and the sh of its scripts, are. */
const systemPath = '/usr/local/bin:/usr/bin:/bin';
const { version } = packageJson;
const hasGo = await run('go', ['version']).then(
  () => true,
  () => false,
);

let temp: TempDir;
/** What somebody has who has just come: an empty home, no clone, no Go. */
let env: { readonly [name: string]: string };

const at = (...names: string[]) => path.join(temp.path, ...names);
const asset = (ending: string) => at('release', `busdriver-${version}${ending}`);
/** Makes a folder. @returns its path */
async function make(name: string): Promise<string> {
  await mkdir(at(name), { recursive: true });
  return at(name);
}
/** Unpacks an asset into a folder of its own. */
async function unpack(ending: string): Promise<string> {
  const folder = await make(`unpacked${ending}`);
  await run('tar', ['-xf', asset(ending), '-C', folder]);
  return folder;
}
/** Installs packages into an empty folder. @returns it */
async function install(name: string, endings: readonly string[]): Promise<string> {
  const work = await make(name);
  const args = ['install', '--offline', '--no-audit', '--no-fund', ...endings.map(asset)];
  await run('npm', args, { cwd: work, env });
  return work;
}

beforeAll(async () => {
  temp = await makeTempDir();
  env = { HOME: await make('home'), PATH: `${path.dirname(process.execPath)}:${systemPath}` };
  const architecture = process.arch === 'x64' ? 'amd64' : process.arch;
  const images = imagesMissing === undefined ? [`--platforms=${architecture}`] : ['--no-images'];
  const options = ['--out', at('release'), '--snapshot=latest', '--registry=registry.test/team', ...images];
  const main = path.join(root, 'infra/tools/release/release-main.ts');
  await run(process.execPath, [main, '--dry-run', ...options, ...(hasGo ? [] : ['--no-cluster'])]);
}, 1_500_000);
afterAll(() => temp[Symbol.asyncDispose]());

test('a release names the option that is wrong, before it makes anything', async () => {
  const main = path.join(root, 'infra/tools/release/release-main.ts');
  await expect(run(process.execPath, [main, '--registry', 'https://x'])).rejects.toMatchObject({
    ...{
      code: 2,
      stderr: expect.stringContaining('--registry: expected a registry such as ghcr.io/example'),
    },
  });
});

describe('the folder of a release', () => {
  test('has the sum of each file, and says what all were made of', async () => {
    const { stdout } = await run('sha256sum', ['--check', 'SHA256SUMS'], { cwd: at('release') });
    const checked = stdout.trim().split('\n');
    expect(checked.sort()).toEqual(
      (await readdir(at('release')))
        .filter((name) => name !== 'SHA256SUMS')
        .map((name) => `${name}: OK`)
        .sort(),
    );
    const { subject, predicate } = JSON.parse(await readFile(asset('.provenance.json'), 'utf8'));
    expect(subject).toHaveLength(checked.length - 1);
    const { stdout: commit } = await run('git', ['rev-parse', 'HEAD'], { cwd: root });
    expect(predicate.buildDefinition.resolvedDependencies[0].digest.gitCommit).toBe(commit.trim());
  });

  test('has the notes of the changelog, and a bill of materials', async () => {
    const notes = await readFile(asset('.md'), 'utf8');
    expect(notes).toMatch(/^The first version/);
    expect(notes).toContain('\n### Accounts, artifacts, registries\n');
    const { components } = JSON.parse(await readFile(asset('.cdx.json'), 'utf8'));
    const names = components.map(({ name }: { readonly name: string }) => name);
    expect(names).toEqual(expect.arrayContaining(['zod', ...(imagesMissing ? [] : ['libc6', 'node'])]));
  });

  test('has templates whose nested stacks and functions are there', async () => {
    const folder = await unpack('.aws.tgz');
    const names = await readdir(folder, { recursive: true });
    const templates = names.filter((each) => /(^|assets\/)[^/]+\.json$/.test(each));
    const texts = await Promise.all(templates.map((name) => readFile(path.join(folder, name), 'utf8')));
    const nested = texts.flatMap((text) => text.match(/[0-9a-f]{64}\.json(?=")/g) ?? []);
    expect(names).toEqual(expect.arrayContaining(nested.map((key) => `assets/${key}`)));
    const functions = texts
      .flatMap((text): Resource[] => Object.values(JSON.parse(text).Resources))
      .filter(({ Type }) => Type === 'AWS::Lambda::Function');
    expect([nested.length > 0, functions.length > 50]).toEqual([true, true]);
    const files = new Map<string, string>();
    for (const { Properties } of functions) {
      const { S3Key = '' } = Properties.Code;
      files.set(S3Key, files.get(S3Key) ?? (await list(path.join(folder, 'assets', S3Key))));
      expect(files.get(S3Key)).toContain(Properties.Handler.replace(/\.handler$/, '.mjs\n'));
    }
  });
});

/** A function in a template. */
interface Resource {
  readonly Type: string;
  readonly Properties: { readonly Handler: string; readonly Code: { readonly S3Key?: string } };
}

/** The files of a ZIP, a line each, after it was read to its end. */
async function list(zip: string): Promise<string> {
  await run('unzip', ['-tqq', zip]);
  return (await run('unzip', ['-Z1', zip])).stdout;
}

describe('the package, installed in an empty folder', () => {
  let work: string;
  beforeAll(async () => {
    work = await install('work', ['.tgz']);
  });
  const busdriver = (...words: string[]) => run('npx', ['busdriver', ...words], { cwd: work, env });

  test('brings no other package, no sources and no tests', async () => {
    expect(await readdir(path.join(work, 'node_modules'))).toEqual([
      '.bin',
      '.package-lock.json',
      'busdriver',
    ]);
    const files = await readdir(path.join(work, 'node_modules/busdriver'), { recursive: true });
    expect(files.filter((file) => /(?<!\.d)\.ts$|\.map$|_test\.go$/.test(file))).toEqual([]);
    expect(files).toEqual(expect.arrayContaining(['LICENSE', 'sbom.cdx.json', 'docs/quick-start.md']));
  });

  test('says what it is and how it is called', async () => {
    expect((await busdriver('--version')).stdout.trim()).toBe(version);
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
    const folder = await make('old');
    await writeFile(path.join(folder, 'node'), '#!/bin/sh\necho v22.4.0\n', { mode: 0o755 });
    const launcher = path.join(work, 'node_modules/busdriver/cli/busdriver');
    const old = { ...env, PATH: `${folder}:${systemPath}` };
    const stderr = /^Busdriver runs on Node 24 or newer, and this is Node v22\.4\.0: .+\n$/;
    await expect(run(launcher, ['start'], { env: old })).rejects.toMatchObject({
      ...{ code: 1, stderr: expect.stringMatching(stderr) },
    });
  });
});

describeWithGo('the package beside that of the test control plane, without Go', () => {
  test('starts on its own cluster, runs the demo, and ends in good order', async () => {
    const work = await install('trial', ['.tgz', `.cluster-${process.platform}-${process.arch}.tgz`]);
    const args = ['busdriver', 'start', '--port', '0', '--json'];
    const server = spawn('npx', args, { cwd: work, env, stdio: ['ignore', 'pipe', 'pipe'] });
    const said: string[] = [];
    server.stderr.on('data', (chunk) => said.push(String(chunk)));
    const ended = once(server, 'exit');
    const failed = ended.then(() => expect.unreachable(`it ended before it was ready: ${said.join('')}`));
    const line = await Promise.race([readFirstLine(server.stdout, AbortSignal.timeout(240_000)), failed]);
    const { url, pid } = JSON.parse(line);
    try {
      const busdriver = (...words: string[]) =>
        run('npx', ['busdriver', '--url', url, ...words], { cwd: work, env });
      const demo = await run('npx', ['busdriver', 'demo', '--url', url], { cwd: work, env });
      expect(demo.stdout).toMatch(/^ok deployment busdriverdemo-web: stable after /m);
      const kubeconfig = path.join(work, '.busdriver/cluster/kubeconfig');
      const enrolment = ['agent', 'enroll', 'edge', '--print', '--kubeconfig', kubeconfig];
      const image = imagesMissing ? undefined : /image: registry\.test\/team\/busdriver-agent@sha256:/;
      await (image &&
        expect(busdriver(...enrolment)).resolves.toMatchObject({ stdout: expect.stringMatching(image) }));
    } finally {
      process.kill(pid, 'SIGTERM');
    }
    expect(await ended).toEqual([0, null]);
  });
});

describeWithImages('the images', () => {
  let layout: string;
  beforeAll(async () => {
    layout = await unpack('.images.tar');
  });

  test('are those that recipes for Kustomize name', async () => {
    const recipes = await unpack('.kubernetes.tgz');
    const { digest } = await unpackImage(layout, 'busdriver', await make('looked-at'));
    for (const recipe of ['manifests', 'one-replica']) {
      const text = await readFile(path.join(recipes, recipe, 'kustomization.yaml'), 'utf8');
      expect(text).toContain(
        `- name: busdriver\n    newName: registry.test/team/busdriver\n    digest: ${digest}\n`,
      );
    }
  });

  test.each([
    ['busdriver', nodeOptions, formatHelp(hostProgram)],
    ['busdriver-agent', agentNodeOptions, 'Usage: node dist/agent/main.js --config FILE'],
  ])('%s runs on a closed root, by its memory settings, and not as root', async (name, options, help) => {
    const image = await unpackImage(layout, name, at(`root-${name}`));
    const { User, Env, Entrypoint } = image.config;
    expect([User, Entrypoint]).toEqual(['1000:1000', ['node', ...options, '/busdriver/main.js']]);
    expect(Env).toEqual(expect.arrayContaining(Object.entries(memorySettings).map((each) => each.join('='))));
    const shown = startContainer(image, [...Entrypoint, '--help']);
    expect((await shown.stdout.toArray()).join('')).toContain(help);
    // Who it is, and what it may write.
    const script = "console.log(process.getuid()); require('fs').writeFileSync('/busdriver/a', '')";
    const tried = startContainer(image, ['node', '--eval', script]);
    const [out, error] = await Promise.all([tried.stdout.toArray(), tried.stderr.toArray()]);
    expect(out.join('')).toBe('1000\n');
    expect(error.join('')).toContain('EROFS');
    // No shell, for whoever gets in.
    expect(await readdir(path.join(image.root, 'usr/bin'))).toEqual(['node']);
  });

  test('serve as one replica, are killed, and go on from the volume', async () => {
    const image = await unpackImage(layout, 'busdriver', at('root-replica'));
    const volumes = { '/var/lib/busdriver': await make('volume'), '/tmp': await make('tmp') };
    for (const folder of Object.values(volumes)) await chown(folder, 1000, 1000);
    const [node, ...options] = image.config.Entrypoint.slice(0, -1);
    const config = await make('config');
    await writeFile(path.join(config, 'clouddriver.yml'), 'busdriver: { accountsApi: { enabled: true } }\n');
    const start = async () => {
      const command = [node ?? '', ...options, '/busdriver/local/main.js', '--port=0', '--json'];
      const files = ['--config=/etc/busdriver/clouddriver.yml', '--data-dir=/var/lib/busdriver/data'];
      const child = startContainer(image, [...command, ...files], { ...volumes, '/etc/busdriver': config });
      const said = child.stderr.toArray();
      const failed = once(child, 'exit').then(async () => expect.unreachable((await said).join('')));
      const line = await Promise.race([readFirstLine(child.stdout, AbortSignal.timeout(120_000)), failed]);
      return { child, url: JSON.parse(line).url as string };
    };
    const first = await start();
    const health = await fetch(`${first.url}/health`);
    expect([health.status, await health.json()]).toEqual([200, { status: 'UP' }]);
    first.child.kill('SIGKILL');
    await once(first.child, 'exit');
    const second = await start();
    expect((await fetch(`${second.url}/health`)).status).toBe(200);
    second.child.kill('SIGTERM');
    expect(await once(second.child, 'exit')).toEqual([0, null]);
  });
});
