import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, readdir, readFile, readlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { describe, expect, test } from 'vitest';
import { buildLocal } from '#infra/tools/build/build.ts';
import { makeTempDir } from '#test/support/run/temp-dir.ts';
import { startSystem } from '#test/support/system/system.ts';
import { findOpen, noAccounts, readModes, writeConfig } from './start-files.ts';

const root = path.resolve(import.meta.dirname, '../../..');
const outputDir = path.join(root, 'dist', 'local');

describe('other users of the machine', () => {
  test('find no port of it but that of the API: nothing of the engines can be called', async () => {
    await using temp = await makeTempDir();
    const config = await writeConfig(temp, noAccounts);
    const dataDir = path.join(temp.path, 'data');
    const args = ['--json', '--port', '0', '--data-dir', dataDir, '--config', config];
    await using system = await startProgram(args);
    expect(await listPorts(system.pid)).toEqual([Number(new URL(system.url).port)]);
  });

  test('cannot read anything in the data directory', async () => {
    await using temp = await makeTempDir();
    await using system = await startSystem({ config: [await writeConfig(temp, noAccounts)] });
    const modes = await readModes(system.dataDir);
    expect([...modes.keys()]).toEqual(
      expect.arrayContaining(['', 'pid', 'tables.sqlite', 'tables.sqlite-wal']),
    );
    expect(findOpen(modes)).toEqual([]);
    await system.kill('SIGTERM');
    const left = await readModes(system.dataDir);
    expect(findOpen(left)).toEqual([]);
    expect([...left.keys()]).not.toContain('pid');
  });

  test('are shut out of a data directory that was open to them, and its owner is told', async () => {
    await using temp = await makeTempDir();
    const dataDir = path.join(temp.path, 'data');
    await mkdir(dataDir);
    await chmod(dataDir, 0o777);
    await writeFile(path.join(dataDir, 'notes'), '', { mode: 0o644 });
    await using system = await startSystem({ dataDir, config: [await writeConfig(temp, noAccounts)] });
    expect(system.stderr).toContain(
      `${dataDir} was open to other users (mode 0777): it is yours alone now\n`,
    );
    expect(findOpen(await readModes(dataDir))).toEqual([]);
  });
});

/** Starts the program itself, in which nobody looks. */
async function startProgram(args: readonly string[]) {
  await buildLocal({ root, outputDir });
  const child = spawn(process.execPath, [path.join(outputDir, 'main.js'), ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
  return {
    ...(JSON.parse(line) as { readonly pid: number; readonly url: string }),
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await once(child, 'close');
    },
  };
}

/** Ports at which a process listens, of which each may have several sockets. */
async function listPorts(pid: number): Promise<number[]> {
  const fds = await readdir(`/proc/${pid}/fd`);
  const links = await Promise.all(fds.map((fd) => readlink(`/proc/${pid}/fd/${fd}`).catch(() => '')));
  const tables = await Promise.all(
    ['tcp', 'tcp6'].map((name) => readFile(`/proc/${pid}/net/${name}`, 'utf8')),
  );
  const rows = tables
    .flatMap((text) => text.trim().split('\n').slice(1))
    .map((row) => row.trim().split(/\s+/));
  const own = rows.filter(
    ([, , , state, , , , , , inode]) => state === '0A' && links.includes(`socket:[${inode}]`),
  );
  return [...new Set(own.map(([, address]) => Number.parseInt(address?.split(':')[1] ?? '', 16)))];
}
