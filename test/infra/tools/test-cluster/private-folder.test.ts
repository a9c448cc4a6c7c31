import { chmod, chown, lstat, mkdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { FolderNotPrivateError, makeFolderPrivate } from '#infra/tools/test-cluster/private-folder.ts';
import { makeTempDir } from '#test/support/run/temp-dir.ts';

const isRoot = process.getuid?.() === 0;

async function makePrivate(dir: string): Promise<string[]> {
  const lines: string[] = [];
  await makeFolderPrivate(dir, (line) => void lines.push(line));
  return lines;
}

async function readMode(file: string): Promise<string> {
  return ((await stat(file)).mode & 0o777).toString(8);
}

test('makes a folder for this user alone, and says nothing', async () => {
  await using temp = await makeTempDir();
  const dir = path.join(temp.path, 'made', 'deep');
  expect(await makePrivate(dir)).toEqual([]);
  expect(await readMode(dir)).toBe('700');
});

test('closes an open folder with all that it holds, and says so once', async () => {
  await using temp = await makeTempDir();
  const dir = path.join(temp.path, 'data');
  await mkdir(path.join(dir, 'dynamodb'), { recursive: true });
  await writeFile(path.join(dir, 'dynamodb', '000005.ldb'), 'kept', { mode: 0o644 });
  await writeFile(path.join(dir, 'run.sh'), '', { mode: 0o755 });
  for (const folder of [dir, path.join(dir, 'dynamodb')]) await chmod(folder, 0o755);

  expect(await makePrivate(dir)).toEqual([
    `${dir} was open to other users (mode 0755): it is yours alone now`,
  ]);

  expect(await readMode(dir)).toBe('700');
  expect(await readMode(path.join(dir, 'dynamodb'))).toBe('700');
  expect(await readMode(path.join(dir, 'dynamodb', '000005.ldb'))).toBe('600');
  expect(await readMode(path.join(dir, 'run.sh'))).toBe('700');
  expect(await readFile(path.join(dir, 'dynamodb', '000005.ldb'), 'utf8')).toBe('kept');
  expect(await makePrivate(dir)).toEqual([]);
});

test('leaves alone what links inside lead to', async () => {
  await using temp = await makeTempDir();
  const dir = path.join(temp.path, 'data');
  await mkdir(dir);
  const outside = path.join(temp.path, 'outside');
  await writeFile(outside, '');
  await chmod(outside, 0o644);
  await symlink(outside, path.join(dir, 'link'));
  await symlink(path.join(temp.path, 'nowhere'), path.join(dir, 'dangling'));
  await makePrivate(dir);
  expect(await readMode(outside)).toBe('644');
  expect((await lstat(path.join(dir, 'link'))).isSymbolicLink()).toBe(true);
});

// Only root can give a file to somebody else.
test.runIf(isRoot)('refuses what belongs to somebody else, and names it', async () => {
  await using temp = await makeTempDir();
  const dir = path.join(temp.path, 'data');
  await mkdir(dir, { mode: 0o777 });
  const planted = path.join(dir, 'dynamodb');
  await mkdir(planted);
  await chown(planted, 65_534, 65_534);
  await expect(makePrivate(dir)).rejects.toThrow(FolderNotPrivateError);
  await expect(makePrivate(dir)).rejects.toThrow(
    `${planted} belongs to the user with the id 65534, not to you (0), and will hold secrets: pass another --data-dir`,
  );
  await chown(dir, 65_534, 65_534);
  await expect(makePrivate(dir)).rejects.toThrow(`${dir} belongs to the user with the id 65534`);
});
