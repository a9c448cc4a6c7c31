import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';

/** How Busdriver is started with the example provider. */
export interface ExampleStart {
  /** A folder of the test's own, from which packages are found, and where the data are. */
  readonly folder: string;
  /** The command line of `busdriver start`, without the options of this test. */
  readonly command: readonly [string, ...string[]];
}

/** Expects a process of Busdriver to run operations of a provider as the example, to cache for it, and to show what it cached. */
export async function expectProviderToWork(
  { folder, command }: ExampleStart,
  name = 'example',
): Promise<void> {
  const accounts = [{ name: 'one', regions: ['north', 'south', 'nowhere'] }, { wrong: true }];
  const config = join(folder, 'clouddriver.yml');
  await writeFile(config, JSON.stringify({ [name]: { accounts } }));
  const [program, ...args] = command;
  const server = spawn(
    program,
    [...args, '--config', config, '--data-dir', join(folder, 'data'), '--port', '0', '--json'],
    { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] },
  );
  const ended = once(server, 'exit');
  let errors = '';
  server.stderr.on('data', (text: Buffer) => {
    errors += text.toString();
  });
  const ready = await Promise.race([once(server.stdout, 'data'), ended.then(() => undefined)]);
  if (ready === undefined) throw new Error(`it ended before it was ready: ${errors}`);
  const { url, pid } = JSON.parse(String(ready[0])) as { url: string; pid: number };
  try {
    await expectAnswers(url, name);
  } finally {
    process.kill(pid, 'SIGTERM');
  }
  expect(await ended).toEqual([0, null]);
}

async function expectAnswers(url: string, name: string): Promise<void> {
  const send = async (path: string, init?: RequestInit): Promise<unknown> =>
    (await fetch(new URL(path, url), init)).json();
  const post = async (path: string, body: object) => {
    const headers = { 'content-type': 'application/json' };
    return send(path, { method: 'POST', headers, body: JSON.stringify(body) });
  };
  const run = (operation: string, description: object) =>
    post(`/${name}/ops`, [{ [operation]: description }]);
  expect(await send('/credentials')).toMatchObject([{ name: 'one', cloudProvider: name }]);
  const refused = await run('createMachine', { account: 'one', region: 'north' });
  expect(refused).toMatchObject({ errors: ['createMachine.machine: expected a name'] });
  const machine = { account: 'one', region: 'south', machine: 'm1' };
  const { id } = (await run('createMachine', machine)) as { id: string };
  await expect
    .poll(() => send(`/task/${id}`), { timeout: 60_000 })
    .toMatchObject({ status: { completed: true, failed: false }, resultObjects: [{ machine: 'm1' }] });
  expect(await send(`/${name}/task/${id}/owner`)).toEqual({ name: expect.any(String) });
  const current = { headers: { 'cache-control': 'max-age=0' } };
  await expect
    .poll(() => send('/instances/one/south/m1', current), { timeout: 60_000 })
    .toMatchObject({ account: 'one', name: 'm1', healthState: 'Up' });

  const subnet = { account: 'one', region: 'north' };
  expect(await send('/subnets')).toContainEqual(subnet);
  expect(await send('/subnets/kubernetes')).toEqual([]);
  expect(await send('/networks')).toEqual({});

  await run('createMachine', { ...subnet, machine: 'm2' });
  await expect
    .poll(
      async () => {
        const refreshed = await post(`/cache/${name}/Machine`, subnet);
        expect(refreshed).toEqual({ cachedIdentifiersByType: { Machine: ['one:north'] } });
        return send('/instances/one/north/m2');
      },
      { timeout: 60_000 },
    )
    .toMatchObject({ name: 'm2' });
  const none = { cachedIdentifiersByType: {} };
  expect(await post(`/cache/${name}/Job`, subnet)).toEqual(none);
  expect(await post(`/cache/${name}/Machine`, { account: 'two' })).toEqual(none);
}
