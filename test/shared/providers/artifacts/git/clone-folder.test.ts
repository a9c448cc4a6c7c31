import { chmod, chown, lstat, mkdir, readdir, symlink, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { openCloneFolder } from '#providers/artifacts/git/clone-folder.ts';
import { makeTempDir } from '#test/support/run/temp-dir.ts';

const hourMs = 3_600_000;

afterEach(() => void vi.unstubAllEnvs());

/** A system's temporary folder of its own, in which this makes a folder as a clone does, two hours old. */
async function makeTemporary() {
  const { path: root, ...temp } = await makeTempDir();
  vi.stubEnv('TMPDIR', root);
  const make = async (name: string, mode = 0o700): Promise<string> => {
    const folder = path.join(root, name);
    await mkdir(folder);
    await writeFile(path.join(folder, '0'), 'pack');
    await chmod(folder, mode);
    await utimes(folder, new Date(), new Date(Date.now() - 2 * hourMs));
    return folder;
  };
  return { ...temp, root, make };
}

describe('folders of clones whose process was killed', () => {
  it('are deleted when the next clone begins, after an hour', async () => {
    await using temporary = await makeTemporary();
    await temporary.make('busdriver-git-aB3dE6');
    const young = await temporary.make('busdriver-git-aB3dE7');
    await utimes(young, new Date(), new Date(Date.now() - hourMs / 2));
    await using folder = await openCloneFolder(1_000, Date.now());
    await folder.createFile('0');
    const names = await readdir(temporary.root);
    expect(names).toHaveLength(2);
    expect(names).toContain('busdriver-git-aB3dE7');
  });

  it('are no others than we made: what is somebody’s is left alone, and so is what a link leads to', async () => {
    await using temporary = await makeTemporary();
    const kept = await temporary.make('precious');
    const link = path.join(temporary.root, 'busdriver-git-Link00');
    await symlink(kept, link);
    await temporary.make('busdriver-git-Open00', 0o755);
    await temporary.make('busdriver-git-notes-of-mine');
    await writeFile(path.join(temporary.root, 'busdriver-git-File00'), 'a file');
    const old = new Date(Date.now() - 2 * hourMs);
    await utimes(path.join(temporary.root, 'busdriver-git-File00'), old, old);
    // Only a superuser can give something away.
    if (process.getuid?.() === 0) await chown(await temporary.make('busdriver-git-Other0'), 12_345, 12_345);
    const before = await readdir(temporary.root);
    await using folder = await openCloneFolder(1_000, Date.now());
    await folder.createFile('0');

    expect(await readdir(temporary.root)).toEqual(expect.arrayContaining(before));
    expect((await lstat(link)).isSymbolicLink()).toBe(true);
    expect(await readdir(kept)).toEqual(['0']);
  });
});
