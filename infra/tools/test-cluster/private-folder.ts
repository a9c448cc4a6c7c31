import { chmod, lstat, mkdir, readdir, stat } from 'node:fs/promises';
import path from 'node:path';

/** Bits of a mode that let anybody but the owner in. */
const othersMask = 0o077;

/** A folder that is to be this user's alone cannot be; the message says why, and what to do. */
export class FolderNotPrivateError extends Error {
  override readonly name = 'FolderNotPrivateError';
}

/**
 * Lets this process, and what it starts, make files and folders that this user alone can open, whatever the shell's umask is:
 * modes 0600 and 0700.
 */
export function keepFilesPrivate(): void {
  process.umask(othersMask);
}

/**
 * Makes a folder this user's own: it is made when missing, and closed to all others, with all it holds, when it was open. Where users have
 * no numbers (Windows) only the first happens.
 *
 * @param report called with one line when it was open to others
 * @throws FolderNotPrivateError when it is a file, another user owns it or something in it, or its mode cannot be changed
 */
export async function makeFolderPrivate(dir: string, report: (line: string) => void): Promise<void> {
  await mkdir(dir, { recursive: true, mode: 0o700 }).catch(refuseFile(dir));
  const user = process.getuid?.();
  if (user === undefined) return;
  // The folder itself may be reached by a link; what is behind links inside is not ours to change.
  const { mode, uid } = await stat(dir);
  checkOwner(dir, uid, user);
  await close(dir, mode);
  const wasOpen = (mode & othersMask) !== 0;
  if (wasOpen) report(`${dir} was open to other users (mode ${formatMode(mode)}): it is yours alone now`);
  await closeEntries(dir, user);
}

/** What lies where the folder should, or above it, is none. */
function refuseFile(dir: string): (error: NodeJS.ErrnoException) => never {
  return (error) => {
    if (error.code !== 'EEXIST' && error.code !== 'ENOTDIR') throw error;
    throw new FolderNotPrivateError(`${dir} is a file, or lies below one: --data-dir must name a folder`);
  };
}

async function closeEntries(dir: string, user: number): Promise<void> {
  for (const name of (await readdir(dir).catch(ignoreMissing)) ?? []) {
    const file = path.join(dir, name);
    const found = await lstat(file).catch(ignoreMissing);
    if (found === undefined) continue;
    checkOwner(file, found.uid, user);
    if (found.isSymbolicLink()) continue;
    await close(file, found.mode);
    if (found.isDirectory()) await closeEntries(file, user);
  }
}

/** SQLite and etcd may be tidying up meanwhile. */
function ignoreMissing(error: unknown): undefined {
  if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
  throw error;
}

function checkOwner(file: string, owner: number, user: number): void {
  if (owner === user) return;
  throw new FolderNotPrivateError(
    `${file} belongs to the user with the id ${owner}, not to you (${user}), and will hold secrets: ` +
      'pass another --data-dir, or let its owner start this',
  );
}

async function close(file: string, mode: number): Promise<void> {
  if ((mode & othersMask) === 0) return;
  await chmod(file, mode & 0o700).catch(() => undefined);
  const now = await stat(file).catch(ignoreMissing);
  if (now === undefined || (now.mode & othersMask) === 0) return;
  throw new FolderNotPrivateError(
    `${file} is open to other users (mode ${formatMode(now.mode)}), and its file system does not let that change: ` +
      'pass another --data-dir',
  );
}

function formatMode(mode: number): string {
  return (mode & 0o777).toString(8).padStart(4, '0');
}
