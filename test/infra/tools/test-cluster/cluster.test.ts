import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import path from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { type Cluster, type StartClusterOptions, startCluster } from '#infra/tools/test-cluster/cluster.ts';
import { describeWithCluster, getCluster, runKubectl } from '#test/support/cluster/cluster.ts';
import { makeTempDir } from '#test/support/run/temp-dir.ts';

const root = path.resolve(import.meta.dirname, '../../../..');
const mainFile = path.join(root, 'infra/tools/test-cluster/cluster-main.ts');

describeWithCluster('a cluster of its own', () => {
  test('has nodes, runs Deployments, keeps them for a restart on the same folder, and tells when it was killed', async () => {
    await using dir = await makeTempDir();
    await giveUp(dir.path);
    await deployWeb(dir.path);
    await using again = await start({ dir: dir.path, args: ['--nodes=3'] });
    const image = [
      'get',
      'deployment',
      'web',
      '--output',
      'jsonpath={.spec.template.spec.containers[0].image}',
    ];
    expect(await runKubectl(again, image)).toBe('nginx:1.27');
    expect(await runKubectl(again, ['rollout', 'status', 'deployment', 'web'])).toContain(
      'successfully rolled out',
    );
    expect(await listNodes(again)).toEqual(['node-0', 'node-1', 'node-2']);
    process.kill(again.pid, 'SIGKILL');
    expect(await again.exited).toMatchObject({ code: null, signal: 'SIGKILL' });
  });

  test('ends with a parent that is killed, and leaves nothing behind', async () => {
    await using command = await startMain();
    const { child, server, dir } = command;
    child.kill('SIGKILL');
    await expect.poll(() => isListening(server)).toBe(false);
    await expect.poll(() => exists(dir)).toBe(false);
  });

  test('on the command line ends properly on SIGINT, and leaves nothing behind', async () => {
    await using command = await startMain();
    const { child, server, dir } = command;
    child.kill('SIGINT');
    expect(await once(child, 'exit')).toEqual([0, null]);
    expect(await isListening(server)).toBe(false);
    expect(await exists(dir)).toBe(false);
  });

  test('that cannot start is an error with the reason', async () => {
    await expect(start({ args: ['--apiserver-arg=--nonsense'] })).rejects.toThrow(
      /ended before it was ready \(exit code 1\): .*kube-apiserver: unknown flag: --nonsense/,
    );
    const port = Number(new URL(getCluster().server).port);
    await expect(start({ port })).rejects.toThrow(/address already in use/);
  });
});

test('the command line explains all flags of kubecluster but those that it needs for itself', async () => {
  const source = await readFile(path.join(root, 'test/cluster/main.go'), 'utf8');
  const flags = [...source.matchAll(/flag\.\w*Var\(&o\.\w+, "([a-z-]+)"/g)].map(([, name]) => name);
  const { code, stdout } = await runMain(['--help']);
  const explained = [...stdout.matchAll(/^ {2}--([a-z-]+)(=[A-Z]+)? +\S/gm)].map(([, name]) => name);
  expect(code).toBe(0);
  expect(explained.sort()).toEqual(
    [...flags, 'build-only', 'help']
      .filter((flag) => flag !== 'until-stdin-eof' && flag !== 'remove-dir')
      .sort(),
  );
});

test('the command line names what is wrong with its options', async () => {
  const badPort = { code: 1, stderr: "--port must be a number from 0 to 65535, not 'x'\n" };
  expect(await runMain(['--port', 'x'])).toMatchObject(badPort);
  expect(await runMain(['--speed'])).toMatchObject({ code: 1, stderr: expect.stringContaining("'--speed'") });
});

function start(options: Omit<StartClusterOptions, 'report'> = {}): Promise<Cluster> {
  return startCluster({ report: (line) => console.log(line), ...options });
}

/** Begins to start one, which leaves its folder to others. */
async function giveUp(dir: string): Promise<void> {
  const signal = AbortSignal.timeout(500);
  await expect(start({ dir, signal })).rejects.toThrow();
  expect(signal.aborted).toBe(true);
}

async function deployWeb(dir: string): Promise<void> {
  await using cluster = await start({ dir });
  expect(await listNodes(cluster)).toEqual(['node-0', 'node-1']);
  await runKubectl(cluster, ['create', 'deployment', 'web', '--image', 'nginx:1.27', '--replicas', '2']);
  const rollout = await runKubectl(cluster, ['rollout', 'status', 'deployment', 'web', '--timeout', '30s']);
  expect(rollout).toContain('successfully rolled out');
}

async function listNodes(cluster: Cluster): Promise<string[]> {
  const names = await runKubectl(cluster, ['get', 'nodes', '--output', 'jsonpath={.items[*].metadata.name}']);
  return names.split(' ');
}

async function exists(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  );
}

async function isListening(server: string): Promise<boolean> {
  const { hostname, port } = new URL(server);
  const socket = connect(Number(port), hostname);
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

type Child = ChildProcessByStdio<null, Readable, Readable>;

function spawnMain(args: string[]): Child {
  return spawn(process.execPath, [mainFile, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
}

interface ClusterCommand extends AsyncDisposable {
  readonly child: Child;
  readonly server: string;
  readonly dir: string;
}

/** `npm run cluster` in a temporary folder, once it is ready: where it says that the cluster is. */
async function startMain(): Promise<ClusterCommand> {
  const child = spawnMain([]);
  const stop = async () => void child.kill('SIGKILL');
  child.stderr.resume();
  let printed = '';
  for await (const line of createInterface(child.stdout)) {
    printed += `${line}\n`;
    const found = /answers at (\S+)\n[\s\S]*^ {2}log +(\S+)$/m.exec(printed);
    if (found?.[1] && found[2]) {
      return { child, server: found[1], dir: path.dirname(found[2]), [Symbol.asyncDispose]: stop };
    }
  }
  throw new Error(`The command line ended before it was ready: ${printed}`);
}

async function runMain(args: string[]) {
  const child = spawnMain(args);
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit'),
  ]);
  return { stdout, stderr, code };
}
