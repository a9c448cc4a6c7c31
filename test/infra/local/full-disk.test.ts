import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, test } from 'vitest';
import { buildLocal } from '#infra/tools/build/build.ts';
import { makeTempDir } from '#test/support/run/temp-dir.ts';
import { toDeploy } from '#test/support/system/config-map-deploy.ts';
import { type System, startSystem } from '#test/support/system/system.ts';
import { makeAccount, noAccounts, writeConfig } from './start-files.ts';

const run = promisify(execFile);
const root = path.resolve(import.meta.dirname, '../../..');
const outputDir = path.join(root, 'dist', 'local');

/** Without privileges no disk can be filled, but the size of a process's files can be limited: writing then fails as on a full disk. */
const hasLimits = await run('prlimit', ['--version']).then(
  () => true,
  () => false,
);
const title = hasLimits ? 'a full disk' : 'a full disk (skipped: there is no prlimit)';

/** Lets files of a process grow to so many bytes, or as they like. */
async function limitFiles(pid: number, bytes: number | 'unlimited'): Promise<void> {
  // The hard limit stays: who has no privileges could not raise it again.
  await run('prlimit', ['--pid', String(pid), `--fsize=${bytes}:unlimited`]);
}

beforeAll(() => buildLocal({ root, outputDir }));

describe.skipIf(!hasLimits)(title, () => {
  test('is told to who posts and in the log, nothing that was accepted is lost, and all goes on when there is room', async () => {
    await using temp = await makeTempDir();
    await using system = await startSystem({ config: [await writeConfig(temp, await makeAccount(temp))] });
    const before = await post(system, 'before');
    expect(before.status).toBe(200);

    await limitFiles(system.pid, 1);
    await expect
      .poll(async () => (await post(system, 'during')).message)
      .toMatch(/Busdriver's data directory cannot be written, for its disk is full \(file too large\)/);
    const refused = await post(system, 'during');
    expect(refused).toMatchObject({ status: 503, retryAfter: '1' });
    expect(system.stderr).toContain('for its disk is full: make room there');
    // What needs no disk goes on.
    expect((await system.fetch(`/task/${before.id}`)).status).toBe(200);

    await limitFiles(system.pid, 'unlimited');
    await expect.poll(async () => (await post(system, 'after')).status).toBe(200);
    expect(system.stderr).toContain('the data directory can be written again');
    const after = await post(system, 'after');
    expect((await system.fetch(`/task/${before.id}`)).status).toBe(200);

    await system.kill('SIGKILL');
    await system.restart();
    for (const { id } of [before, after]) expect((await system.fetch(`/task/${id}`)).status).toBe(200);
  });

  test('does not leave who meets it without an answer', async () => {
    await using temp = await makeTempDir();
    await using system = await startSystem({ config: [await writeConfig(temp, await makeAccount(temp))] });
    await limitFiles(system.pid, 1);
    const answers = await Promise.all(Array.from({ length: 20 }, (_, index) => post(system, `id-${index}`)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([503]));
    expect((await system.fetch('/health')).status).toBe(200);
  });

  test('at the start is an error that says what is full, and what to do', async () => {
    await using temp = await makeTempDir();
    const dataDir = path.join(temp.path, 'data');
    const config = await writeConfig(temp, noAccounts);
    const args = [
      path.join(outputDir, 'main.js'),
      '--json',
      '--port',
      '0',
      '--data-dir',
      dataDir,
      '--config',
      config,
    ];
    const child = spawn('prlimit', ['--fsize=1', process.execPath, ...args], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const [stderr, [code]] = await Promise.all([text(child.stderr), once(child, 'close')]);
    expect(stderr).toContain(`${dataDir} cannot be written`);
    expect(stderr).toContain('pass another --data-dir');
    expect(stderr).not.toContain('    at ');
    expect(code).toBe(1);
  });
});

interface PostAnswer {
  readonly status: number;
  readonly message: string | undefined;
  readonly id: string | undefined;
  readonly retryAfter: string | null;
}

/** Posts an operation on a cluster that nobody runs. The same id is the same task. */
async function post(system: System, clientRequestId: string): Promise<PostAnswer> {
  const response = await system.fetch(`/kubernetes/ops?clientRequestId=${clientRequestId}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify([toDeploy('prod', 'default', ['settings'])]),
  });
  const { message, id } = (await response.json()) as Partial<PostAnswer>;
  return { status: response.status, message, id, retryAfter: response.headers.get('retry-after') };
}
