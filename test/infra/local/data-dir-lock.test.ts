import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { expect, onTestFinished, test } from 'vitest';
import { DataDirInUseError, lockDataDir } from '#infra/local/data-dir-lock.ts';
import { makeTempDir } from '#test/support/run/temp-dir.ts';

test('one holder at a time, named to the next', async () => {
  await using temp = await makeTempDir();
  const dir = path.join(temp.path, 'made', 'when-missing');
  {
    await using _lock = await lockDataDir(dir);
    const failure = lockDataDir(dir);
    await expect(failure).rejects.toThrow(DataDirInUseError);
    await expect(failure).rejects.toThrow(`process ${process.pid}`);
  }
  await using _again = await lockDataDir(dir);
});

test('a claim left by a killed process is taken over', async () => {
  await using temp = await makeTempDir();
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
  await writeFile(path.join(temp.path, 'pid'), JSON.stringify({ pid: child.pid, start: '' }));
  await expect(lockDataDir(temp.path)).rejects.toThrow(`process ${child.pid}`);
  child.kill('SIGKILL');
  await once(child, 'exit');
  await using _lock = await lockDataDir(temp.path);
  expect(JSON.parse(await readFile(path.join(temp.path, 'pid'), 'utf8'))).toMatchObject({ pid: process.pid });
});

test.runIf(process.platform === 'linux')('another process that got the same id is no holder', async () => {
  await using temp = await makeTempDir();
  await writeFile(path.join(temp.path, 'pid'), JSON.stringify({ pid: process.pid, start: '1' }));
  await using _lock = await lockDataDir(temp.path);
});

test.runIf(process.platform === 'linux')(
  'a killed process whose parent has not looked is no holder',
  async () => {
    await using temp = await makeTempDir();
    // The shell becomes a program that never asks for its children: the one that ends after that stays a zombie.
    const script = '(until grep -q sleep /proc/$$/comm; do :; done) & echo $!; exec sleep 1000';
    const parent = spawn('sh', ['-c', script], { stdio: ['ignore', 'pipe', 'ignore'] });
    onTestFinished(() => void parent.kill('SIGKILL'));
    const [line] = await once(createInterface(parent.stdout), 'line');
    const pid = Number(line);
    const readStat = () => readFile(`/proc/${pid}/stat`, 'utf8');
    await expect.poll(readStat).toMatch(/\) Z /);
    const start = (await readStat()).split(') ')[1]?.split(' ')[19];
    await writeFile(path.join(temp.path, 'pid'), JSON.stringify({ pid, start }));
    await using _lock = await lockDataDir(temp.path);
  },
);

test('a claim that was never finished is taken over', async () => {
  await using temp = await makeTempDir();
  await writeFile(path.join(temp.path, 'pid'), '');
  await using _lock = await lockDataDir(temp.path);
});
