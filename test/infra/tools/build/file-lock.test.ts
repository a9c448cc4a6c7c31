import { stat, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { takeFileLock } from '#infra/tools/build/file-lock.ts';
import { makeTempDir } from '#test/support/run/temp-dir.ts';

test('one holds the lock at a time, and the next after it is released', async () => {
  await using dir = await makeTempDir();
  const file = path.join(dir.path, 'lock');
  const first = await takeFileLock(file);
  expect(first).toBeDefined();
  expect(await takeFileLock(file)).toBeUndefined();
  await first?.[Symbol.asyncDispose]();
  await using second = await takeFileLock(file);
  expect(second).toBeDefined();
});

test('a lock whose owner was killed is free after half a minute', async () => {
  await using dir = await makeTempDir();
  const file = path.join(dir.path, 'lock');
  await writeFile(file, '');
  expect(await takeFileLock(file)).toBeUndefined();
  const longAgo = new Date(Date.now() - 31_000);
  await utimes(file, longAgo, longAgo);
  await takeFileLock(file);
  await using lock = await takeFileLock(file);
  expect(lock).toBeDefined();
  expect(Date.now() - (await stat(file)).mtimeMs).toBeLessThan(30_000);
});

test('a folder that is not there is an error, not a lock that somebody holds', async () => {
  await expect(takeFileLock('/nowhere/lock')).rejects.toThrow(/ENOENT/);
});
