import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, open, readFile, symlink, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage } from 'node:http';
import { get as getSecurely } from 'node:https';
import { homedir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { buildLocal } from '#infra/tools/build/build.ts';
import { CertificateAuthority } from '#test/shared/providers/kubernetes/credentials/certificates.ts';
import { describeWithCluster } from '#test/support/cluster/cluster.ts';
import { listenLocally } from '#test/support/network/local-server.ts';
import { makeTempDir } from '#test/support/run/temp-dir.ts';
import { toDeploy } from '#test/support/system/config-map-deploy.ts';
import { startSystem } from '#test/support/system/system.ts';
import {
  findOpen,
  makeAccount,
  noAccounts,
  readModes,
  token,
  writeConfig,
  writeToken,
} from './start-files.ts';

const root = path.resolve(import.meta.dirname, '../../..');
const outputDir = path.join(root, 'dist', 'local');

beforeAll(() => buildLocal({ root, outputDir }));

describe('npm start', () => {
  test('says on one line of standard output that it is ready, starts again after kill -9, and ends at SIGTERM', async () => {
    await using temp = await makeTempDir();
    await using system = await startSystem({ config: [await writeConfig(temp, noAccounts)] });
    const { pid } = system;

    expect((await system.fetch('/health')).status).toBe(200);
    expect(system.stdout.trim().split('\n')).toHaveLength(1);
    expect(JSON.parse(system.stdout)).toEqual({
      ready: true,
      url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
      pid,
      dataDir: system.dataDir,
      accounts: [],
    });
    expect(await system.kill('SIGKILL')).toEqual({ code: null, signal: 'SIGKILL' });
    await system.restart();
    expect((await system.fetch('/health')).status).toBe(200);
    expect(await system.kill('SIGTERM')).toEqual({ code: 0, signal: null });
  });

  test('tells people how to point Spinnaker at it, which accounts it leaves out, and which keys it does not know', async () => {
    await using temp = await makeTempDir();
    const { kubernetes } = parse(await makeAccount(temp));
    const accounts = [
      { ...kubernetes.accounts[0], namspaces: ['shop'] },
      { ...kubernetes.accounts[0], name: 'mistyped', permissions: { WRIET: ['ops'] } },
    ];
    const config = await writeConfig(temp, JSON.stringify({ kubernetes: { enabled: true, accounts } }));
    const args = ['--port', '0', '--data-dir', temp.path, '--config', config];
    const { stdout, code } = await runUntil(/Ctrl-C/, args);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Busdriver answers at http:\/\/127\.0\.0\.1:\d+\n/);
    expect(stdout).toMatch(/services\.clouddriver\.baseUrl: http:\/\/127\.0\.0\.1:\d+/);
    expect(stdout).toMatch(/^ {2}accounts {2}prod$/m);
    expect(stdout).toMatch(/^One account is left out because of wrong settings\..*\n {2}mistyped: .*WRIET/m);
    expect(stdout).toMatch(/^One setting may .*\n {2}prod: .*\.namspaces: .* did you mean 'namespaces'\?$/m);
  });

  test('stops before it is ready where it is told to, says so, and leaves nothing behind', async () => {
    await using temp = await makeTempDir();
    // Nobody writes into it: the start waits for its settings.
    const config = path.join(temp.path, 'clouddriver.yml');
    execFileSync('mkfifo', [config]);
    const dataDir = path.join(temp.path, 'data');
    const args = toArguments(['--port', '0', '--data-dir', dataDir, '--config', config]);
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    const ended = once(child, 'close');
    const [stdout, stderr] = [text(child.stdout), text(child.stderr)];
    // It reads, so it takes signals by now.
    const fifo = await open(config, 'w');
    child.kill('SIGINT');
    await once(child.stderr, 'data');
    await fifo.close();
    expect(await ended).toEqual([0, null]);
    expect([await stdout, await stderr]).toEqual([
      '',
      'Stopping before it is ready. Once more ends at once.\nStopped before it was ready: nothing of it runs any more.\n',
    ]);
    expect(existsSync(dataDir)).toBe(false);
  });

  test('ends with the process that holds its channel', async () => {
    await using temp = await makeTempDir();
    const config = await writeConfig(temp, noAccounts);
    const script = `
      import { spawn } from 'node:child_process';
      const args = ${JSON.stringify(toArguments(['--json', '--port', '0', '--data-dir', temp.path, '--config', config]))};
      const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit', 'ipc'] });
      child.stdout.once('data', (line) => { process.stdout.write(line); process.kill(process.pid, 'SIGKILL'); });`;
    const parent = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const [stdout, stderr] = await Promise.all([text(parent.stdout), text(parent.stderr)]);
    expect(JSON.parse(stdout).ready).toBe(true);
    // Both ends of the pipe are closed: the child has ended, too.
    expect(stderr).toContain('Stopping');
  });

  test('warns when other machines can reach it, and nothing asks who they are', async () => {
    await using temp = await makeTempDir();
    const config = [await writeConfig(temp, noAccounts)];
    await using system = await startSystem({ config, args: ['--host', '0.0.0.0'] });
    await expect
      .poll(() => system.stderr)
      .toMatch(
        /Warning: 0\.0\.0\.0 is reachable from other machines\. Whoever reaches the port can .* forge the headers/,
      );
  });

  test('lets in who has the token, warns that it crosses the network, and lists its accounts all the same', async () => {
    await using temp = await makeTempDir();
    const config = await writeConfig(temp, await makeAccount(temp));
    await using system = await startSystem({
      config: [config],
      args: ['--host', '0.0.0.0', '--token-file', await writeToken(temp)],
    });
    expect(system.accounts).toEqual(['prod']);
    await expect
      .poll(() => system.stderr)
      .toMatch(
        /Warning: 0\.0\.0\.0 is reachable from other machines, and the token crosses the network unencrypted/,
      );
    const get = (target: string, headers = {}) => fetch(new URL(target, system.url), { headers });
    expect((await get('/credentials')).status).toBe(401);
    expect((await get('/health')).status).toBe(200);
    const answer = await get('/credentials', { authorization: `Bearer ${token}` });
    expect(await answer.json()).toMatchObject([{ name: 'prod' }]);
    expect(system.stdout + system.stderr).not.toContain(token);
  });

  test('serves mutual TLS, and lists its accounts all the same', async () => {
    await using temp = await makeTempDir();
    const authority = new CertificateAuthority();
    const { certificate, key } = authority.issue({ commonName: 'busdriver', hosts: ['127.0.0.1'] });
    const files = { 'tls-cert': certificate, 'tls-key': key, 'tls-client-ca': authority.certificate };
    const args = Object.entries(files).map(async ([option, pem]) => {
      const file = path.join(temp.path, option);
      await writeFile(file, pem, { mode: 0o600 });
      return [`--${option}`, file];
    });
    await using system = await startSystem({
      config: [await writeConfig(temp, await makeAccount(temp))],
      args: ['--host', '0.0.0.0', ...(await Promise.all(args)).flat()],
    });
    expect(system.accounts).toEqual(['prod']);
    expect(system.url).toMatch(/^https:/);
    expect(system.stderr).not.toContain('Warning');
    const { port } = new URL(system.url);
    const gate = authority.issue({ commonName: 'gate' });
    const caller = { cert: gate.certificate, key: gate.key };
    const get = async (own: object): Promise<number | undefined> => {
      const target = {
        host: '127.0.0.1',
        port,
        path: '/credentials',
        ca: authority.certificate,
        agent: false,
      };
      const [response]: IncomingMessage[] = await once(getSecurely({ ...target, ...own }), 'response');
      response?.resume();
      return response?.statusCode;
    };
    expect(await get(caller)).toBe(200);
    await expect(get({})).rejects.toThrow();
  });

  test('reaches its own engines, and the demo reaches it, whatever proxy the environment names', async () => {
    await using temp = await makeTempDir();
    const asked: string[] = [];
    await using proxy = createServer((request, response) => {
      asked.push(`${request.method} ${request.url}`);
      response.writeHead(502).end();
    });
    proxy.on('connect', (request, socket) => {
      asked.push(`CONNECT ${request.url}`);
      socket.end('HTTP/1.1 502 Bad Gateway\r\n\r\n');
    });
    const address = `http://127.0.0.1:${await listenLocally(proxy)}`;
    const env = {
      ...{ HTTP_PROXY: address, HTTPS_PROXY: address, http_proxy: address, https_proxy: address },
      ...{ NO_PROXY: '', no_proxy: '', NODE_USE_ENV_PROXY: '1' },
    };
    await using system = await startSystem({
      config: [await writeConfig(temp, await makeAccount(temp))],
      env,
    });
    const task = await system.waitForTask(await system.postOperations([toDeploy('prod', 'b', ['a'])]));
    expect(task.status).toMatchObject({ completed: true, failed: true });
    const demo = spawn(
      process.execPath,
      [path.join(outputDir, 'demo.js'), '--url', system.url, '--timeout', '5'],
      { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'ignore'] },
    );
    let shown = '';
    demo.stdout.setEncoding('utf8').on('data', (piece: string) => (shown += piece));
    // Its deploy would look for the cluster for half a minute.
    await expect.poll(() => shown).toContain('deployManifest accepted as task');
    demo.kill();
    expect(asked).toEqual([]);
  });
});

describe('npm start refuses', () => {
  test('a wrong command line', async () => {
    const { code, stderr, stdout } = await run(['--prot', '1']);
    expect(stderr).toBe("Unknown option '--prot': did you mean --port?\nTry 'npm start -- --help'.\n");
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  });

  test('a port that is taken, and a data folder that is in use, and names the process', async () => {
    await using temp = await makeTempDir();
    const config = await writeConfig(temp, noAccounts);
    await using system = await startSystem({ config: [config] });
    const { port } = new URL(system.url);
    const onPort = await run(['--port', port, '--data-dir', temp.path, '--config', config]);
    expect(onPort.stderr).toContain(`127.0.0.1:${port} is in use`);
    expect(onPort.code).toBe(1);
    // Before a test cluster is built or started.
    const early = await run(['--port', port, '--data-dir', temp.path], { HOME: temp.path, KUBECONFIG: '' });
    expect(early).toMatchObject({ code: 1, stderr: onPort.stderr });
    const { dataDir, pid } = system;
    const onData = await run(['--port', '0', '--data-dir', dataDir, '--config', config]);
    expect(onData.stderr).toContain(`${dataDir} is in use by process ${pid}`);
    expect(onData.code).toBe(1);
  });

  test('a data folder of another version, and says what to do', async () => {
    await using temp = await makeTempDir();
    const dataDir = path.join(temp.path, 'data');
    await mkdir(dataDir);
    await writeFile(path.join(dataDir, 'format'), '7\n');
    const config = await writeConfig(temp, noAccounts);
    const { code, stderr } = await run(['--config', config, '--data-dir', dataDir, '--port', '0']);
    expect(stderr).toMatch(
      /^\S+ was written by another version of Busdriver: its data has format '7'.*--data-dir/m,
    );
    expect(stderr).not.toContain('    at ');
    expect(code).toBe(1);
  });

  test('a data folder that is a file, or lies below one', async () => {
    await using temp = await makeTempDir();
    const config = await writeConfig(temp, noAccounts);
    for (const dataDir of [config, path.join(config, 'data')]) {
      const { code, stderr } = await run(['--config', config, '--data-dir', dataDir, '--port', '0']);
      expect(stderr.trim()).toBe(`${dataDir} is a file, or lies below one: --data-dir must name a folder`);
      expect(code).toBe(1);
    }
  });

  test('a host that is not here', async () => {
    await using temp = await makeTempDir();
    const config = await writeConfig(temp, noAccounts);
    const { code, stderr } = await run(['--host', '192.0.2.1', '--data-dir', temp.path, '--config', config]);
    expect(stderr).toContain('--host 192.0.2.1 is no address of this machine');
    expect(code).toBe(1);
  });

  test('a configuration it cannot read, before it makes anything', async () => {
    await using temp = await makeTempDir();
    const config = await writeConfig(temp, 'kubernetes: [');
    const dataDir = path.join(temp.path, 'data');
    const { code, stderr } = await run(['--port', '0', '--data-dir', dataDir, '--config', config]);
    expect(stderr).toContain(config);
    expect(code).toBe(1);
    await expect(readFile(path.join(dataDir, 'pid'))).rejects.toMatchObject({ code: 'ENOENT' });
  });

  test('to start without any cluster, and says what to pass', async () => {
    await using temp = await makeTempDir();
    await mkdir(path.join(temp.path, 'bin'));
    const { code, stderr } = await run(['--port', '0', '--data-dir', path.join(temp.path, 'data')], {
      HOME: temp.path,
      PATH: path.join(temp.path, 'bin'),
      KUBECONFIG: '',
    });
    expect(stderr).toContain('No test cluster can be started, either');
    expect(stderr).toContain('--kubeconfig');
    expect(code).toBe(1);
  });
});

describeWithCluster('npm start without any cluster', () => {
  test('starts one, and keeps it in the data folder', async () => {
    await using temp = await makeTempDir();
    const home = path.join(temp.path, 'home');
    await mkdir(home);
    // The control plane was built before; nothing else of the user's may be found.
    await symlink(path.join(homedir(), '.cache'), path.join(home, '.cache'));
    await using system = await startSystem({
      dataDir: path.join(temp.path, 'data'),
      env: { HOME: home, KUBECONFIG: '' },
    });
    expect(system.accounts).toHaveLength(1);
    expect(system.stderr).toContain('starting a Kubernetes test cluster');
    const modes = await readModes(system.dataDir);
    expect([...modes.keys()]).toContain('cluster/kubeconfig');
    expect(findOpen(modes)).toEqual([]);
  });
});

interface Outcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function toArguments(args: readonly string[]): readonly string[] {
  return [path.join(outputDir, 'main.js'), ...args];
}

/** Runs the command until it ends by itself. */
async function run(args: readonly string[], env: { [name: string]: string } = {}): Promise<Outcome> {
  const child = spawn(process.execPath, toArguments(args), { env: { ...process.env, ...env } });
  const exited = once(child, 'exit');
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  const [code] = await exited;
  return { code, stdout, stderr };
}

/** Runs the command until its standard output matches, then stops it. */
async function runUntil(pattern: RegExp, args: readonly string[]): Promise<Outcome> {
  const child = spawn(process.execPath, toArguments(args), { stdio: ['ignore', 'pipe', 'pipe'] });
  const exited = once(child, 'exit');
  const stderr = text(child.stderr);
  let stdout = '';
  for await (const chunk of child.stdout.setEncoding('utf8')) {
    stdout += chunk;
    if (pattern.test(stdout)) child.kill('SIGTERM');
  }
  const [code] = await exited;
  return { code, stdout, stderr: await stderr };
}
