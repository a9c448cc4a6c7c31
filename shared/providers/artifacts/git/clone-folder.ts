import { type FileHandle, lstat, mkdtemp, open, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TooLargeError } from '#core/errors.ts';

/** Prefix of the names of folders, by which those of killed processes are found. */
export const temporaryPrefix = 'busdriver-git-';

/** The file in a folder to which an archive is written, unless it is created while it is read. */
export const archiveName = 'archive';

/** The names that `mkdtemp` creates from it. */
const temporaryName = new RegExp(`^${temporaryPrefix}[0-9A-Za-z]{6}$`);

/** Age from which folders count as left by killed processes, in milliseconds. */
const abandonedAfterMs = 3_600_000;

/** The folder of one clone, with a limit on its bytes. Disposing of it closes its files, and, in the thread that created it, deletes it. */
export interface CloneFolder extends AsyncDisposable {
  readonly path: string;
  /** Bytes that its files may still grow by. */
  getBytesLeft(): number;
  /** Opens a new file. */
  createFile(name: string): Promise<CloneFile>;
  /** Opens an existing file for reading. */
  openFile(name: string): Promise<CloneFile>;
}

/** A file that is appended to, and read at any offset. */
export interface CloneFile {
  readonly name: string;
  readonly handle: FileHandle;
  readonly size: number;
  /** @throws TooLargeError if the folder would exceed its limit. */
  append(bytes: Uint8Array): Promise<void>;
}

/**
 * Creates a folder below the system's temporary one.
 *
 * @param bytesMax most bytes of all its files.
 * @param nowMs the current time: old folders of killed processes are deleted.
 */
export async function openCloneFolder(bytesMax: number, nowMs: number): Promise<CloneFolder> {
  await deleteAbandoned(nowMs);
  const folder = shareCloneFolder(await mkdtemp(join(tmpdir(), temporaryPrefix)), bytesMax);
  return {
    ...folder,
    async [Symbol.asyncDispose]() {
      await folder[Symbol.asyncDispose]();
      await rm(folder.path, { recursive: true, force: true });
    },
  };
}

/** The folder at a path, which another thread creates and deletes. @param bytesMax most bytes to be added. */
export function shareCloneFolder(path: string, bytesMax: number): CloneFolder {
  const handles: FileHandle[] = [];
  let bytesLeft = bytesMax;
  const openFile = async (name: string, flags: string): Promise<CloneFile> => {
    const handle = await open(join(path, name), flags, 0o600);
    handles.push(handle);
    let { size } = await handle.stat();
    return {
      name,
      handle,
      get size() {
        return size;
      },
      async append(piece) {
        bytesLeft -= piece.byteLength;
        if (bytesLeft < 0) throw tooLarge(bytesMax);
        await handle.writev([piece], size).catch((error: unknown) => {
          throw isDiskFull(error) ? tooLarge(bytesMax, error) : error;
        });
        size += piece.byteLength;
      },
    };
  };
  return {
    path,
    getBytesLeft: () => bytesLeft,
    createFile: (name) => openFile(name, 'wx+'),
    openFile: (name) => openFile(name, 'r'),
    async [Symbol.asyncDispose]() {
      await Promise.allSettled(handles.splice(0).map((handle) => handle.close()));
    },
  };
}

function tooLarge(bytesMax: number, cause?: unknown): TooLargeError {
  return new TooLargeError(
    `The repository needs more than the ${bytesMax} bytes of disk that there are for it: keep large files elsewhere`,
    { cause },
  );
}

function isDiskFull(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOSPC' || error.code === 'EDQUOT');
}

/** Any user of the machine may put something of such a name into the system's folder: deletes only our own. */
async function deleteAbandoned(nowMs: number): Promise<void> {
  const names = await readdir(tmpdir()).catch(() => []);
  for (const name of names.filter((found) => temporaryName.test(found))) {
    const path = join(tmpdir(), name);
    if (await isAbandoned(path, nowMs)) await rm(path, { recursive: true, force: true }).catch(() => {});
  }
}

/** Whether a folder is as `mkdtemp` creates it, for this user alone, and old. A link never is, wherever it leads. */
async function isAbandoned(path: string, nowMs: number): Promise<boolean> {
  const found = await lstat(path).catch(() => undefined);
  if (!found?.isDirectory() || nowMs - found.mtimeMs <= abandonedAfterMs) return false;
  const user = process.getuid?.();
  // Without numeric user ids (Windows) modes mean nothing, either.
  return user === undefined || (found.uid === user && (found.mode & 0o777) === 0o700);
}
