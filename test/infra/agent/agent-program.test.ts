import { readdir, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { buildAgent } from '#infra/agent/build.ts';
import packageJson from '#package.json' with { type: 'json' };
import { runAgentProgram } from '#test/support/agents/agent-process.ts';
import { listenLocally } from '#test/support/network/local-server.ts';
import { makeTempDir } from '#test/support/run/temp-dir.ts';

const root = path.resolve(import.meta.dirname, '../../..');

/** Bytes of all that the image holds beside Node. A third are the types of all kinds that @kubernetes/client-node brings. */
const bundleBytesMax = 4e6;

/** A file of an agent whose Busdriver takes connections, and never answers. */
async function startSilentWorld(): Promise<
  AsyncDisposable & { readonly file: string; readonly calls: () => number }
> {
  let calls = 0;
  const server = createServer((socket) => {
    calls += 1;
    socket.on('error', () => undefined).resume();
  });
  const port = await listenLocally(server);
  const dir = await makeTempDir();
  await writeFile(path.join(dir.path, 'token'), 'abc');
  const file = path.join(dir.path, 'busdriver-agent.yaml');
  const config = {
    busdriver: { url: `http://127.0.0.1:${port}`, tokenFile: 'token' },
    kubernetes: { accounts: [{ name: 'edge', kubeConfigFile: 'none' }] },
    server: { port: 0 },
    prometheus: { enabled: false },
  };
  await writeFile(file, JSON.stringify(config));
  return {
    file,
    calls: () => calls,
    async [Symbol.asyncDispose]() {
      server.close();
      await dir[Symbol.asyncDispose]();
    },
  };
}

describe('the program of agents', () => {
  it('is small', async () => {
    await using dir = await makeTempDir();
    const folder = dir.path;
    // Not where others build: what earlier builds left there is kept for a day.
    await buildAgent(root, folder);
    const names = await readdir(folder, { recursive: true });
    const scripts = names.filter((name) => name.endsWith('.js'));
    const sizes = await Promise.all(scripts.map(async (name) => (await stat(path.join(folder, name))).size));
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(bundleBytesMax);
  });

  it.each([
    [['--version'], 0, `${packageJson.version}\n`],
    [['--help'], 0, 'Usage: node dist/agent/main.js --config FILE'],
    [[], 2, "--config FILE is missing\nTry '--help'.\n"],
    [['--confg', 'x'], 2, "Unknown option '--confg': did you mean --config?\nTry '--help'.\n"],
    [['--config'], 2, '--config'],
    [['--config', 'nowhere.yaml'], 1, 'nowhere.yaml'],
  ])('run with %o ends with %i', async (args, code, text) => {
    await using agent = await runAgentProgram(args);
    expect(await agent.exited).toBe(code);
    expect(agent.log).toContain(text);
  });

  it('ends in time while Busdriver is silent, and at once when it is told twice', async () => {
    await using world = await startSilentWorld();
    await using patient = await runAgentProgram(['--config', world.file]);
    await using hasty = await runAgentProgram(['--config', world.file]);
    await expect.poll(world.calls).toBe(2);
    const ends = [patient.kill('SIGTERM'), hasty.kill('SIGTERM')];
    // The second signal must not come together with the first one, which would hide it.
    await expect.poll(() => probe(hasty.log)).toContain('STOPPING');
    await hasty.kill('SIGTERM');
    expect(await ends[1]).toBe(1);
    expect(await ends[0]).toBe(0);
  });

  it('says why it ends where nothing caught an error, and none of what that holds', async () => {
    await using world = await startSilentWorld();
    // Once the program is there to say it: how long it takes to start is the machine's.
    const plant = `const timer = setInterval(() => {
        if (process.listenerCount('uncaughtException') === 0) return;
        clearInterval(timer);
        Promise.reject(Object.assign(new Error('planted'), { headers: { authorization: process.env.PLANTED } }));
      }, 50)`;
    const environment = {
      PLANTED: 'hunter2',
      NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(plant)}`,
    };
    await using agent = await runAgentProgram(['--config', world.file], { environment });
    expect(await agent.exited).toBe(1);
    const line = agent.log.split('\n').find((each) => each.includes('nothing caught'));
    expect(JSON.parse(line ?? '{}')).toMatchObject({ level: 'ERROR', error: { message: 'planted' } });
    expect(agent.log).not.toContain('hunter2');
  });
});

/** What the readiness probe of an agent answers. */
async function probe(log: string): Promise<string> {
  const line = log.split('\n').find((each) => each.includes('"health is served"')) ?? '{}';
  const { port } = JSON.parse(line) as { port?: number };
  return (await fetch(`http://127.0.0.1:${port}/health/readiness`)).text();
}
