import { type FileHandle, mkdtemp, open, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TooLargeError } from '../../../core/errors.ts';

/** What the names of folders begin with, so that those which a killed process left are found. */
export const temporaryPrefix = 'busdriver-git-';

/** Folders that are older were left by processes that were killed, in milliseconds. */
const abandonedAfterMs = 3_600_000;

/** A folder of one clone, with a bound on its bytes. Disposing of it closes its files and deletes it. */
export interface CloneFolder extends AsyncDisposable {
  /** Opens a new file. */
  createFile(): Promise<CloneFile>;
}

/** A file that is written at its end, and read anywhere. */
export interface CloneFile {
  readonly handle: FileHandle;
  readonly size: number;
  /** @throws TooLargeError when the folder would have more bytes than it may. */
  append(bytes: Uint8Array): Promise<void>;
}

/**
 * Makes a folder below the system's temporary one.
 *
 * @param bytesMax most bytes of all its files.
 * @param nowMs for folders that a process left which was killed: old ones are deleted.
 */
export async function openCloneFolder(bytesMax: number, nowMs: number): Promise<CloneFolder> {
  await deleteAbandoned(nowMs);
  const path = await mkdtemp(join(tmpdir(), temporaryPrefix));
  const handles: FileHandle[] = [];
  let bytes = 0;
  return {
    async createFile() {
      const handle = await open(join(path, String(handles.length)), 'wx+', 0o600);
      handles.push(handle);
      let size = 0;
      return {
        handle,
        get size() {
          return size;
        },
        async append(piece) {
          bytes += piece.byteLength;
          if (bytes > bytesMax) throw tooLarge(bytesMax);
          await handle.writev([piece], size).catch((error: unknown) => {
            throw isDiskFull(error) ? tooLarge(bytesMax, error) : error;
          });
          size += piece.byteLength;
        },
      };
    },
    async [Symbol.asyncDispose]() {
      await Promise.allSettled(handles.splice(0).map((handle) => handle.close()));
      await rm(path, { recursive: true, force: true });
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

async function deleteAbandoned(nowMs: number): Promise<void> {
  const names = await readdir(tmpdir()).catch(() => []);
  for (const name of names.filter((found) => found.startsWith(temporaryPrefix))) {
    const path = join(tmpdir(), name);
    const { mtimeMs = nowMs } = (await stat(path).catch(() => undefined)) ?? {};
    if (nowMs - mtimeMs > abandonedAfterMs) await rm(path, { recursive: true, force: true }).catch(() => {});
  }
}
