import { closeSync, fsyncSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { open, rm } from 'node:fs/promises';
import path from 'node:path';

/** Bytes that must find room before anything is written again: what waits is written at once. */
const freeSpaceBytes = 8 << 20;

/** Bytes by which the system is asked what is wrong with a disk. */
const probeBytes = 64 << 10;

/**
 * Why a folder cannot be written, in the words of the system: SQLite reports that something failed, but not what. Undefined when it can be.
 */
export function findDiskReason(dir: string): string | undefined {
  const file = path.join(dir, 'probe');
  try {
    const handle = openSync(file, 'w', 0o600);
    try {
      // A part alone may find room.
      writeFileSync(handle, Buffer.alloc(probeBytes));
      fsyncSync(handle);
    } finally {
      closeSync(handle);
    }
    return undefined;
  } catch (error) {
    return toReason(error);
  } finally {
    rmSync(file, { force: true });
  }
}

/** Why tables cannot be used, in plain words, and what to do. */
export interface StorageObstacle {
  /** `its disk is full`, where it is what the tables are in. */
  readonly what: string;
  readonly advice: string;
}

const obstacles: readonly (StorageObstacle & { readonly pattern: RegExp })[] = [
  {
    // What systems call a disk on which no room is left; file sizes may be limited, too.
    pattern: /no space left|quota exceeded|file too large|disk is full/i,
    what: 'its disk is full',
    advice: 'make room there',
  },
  {
    pattern: /is locked/i,
    what: 'another program holds its tables',
    advice: 'end the program that holds the tables',
  },
  {
    pattern: /not a database|malformed/i,
    what: 'its tables are damaged',
    advice: 'put back a copy of the directory',
  },
  {
    pattern: /not synced/i,
    what: 'its disk failed',
    advice: 'check the disk, then start Busdriver again',
  },
];

/** Explains why tables cannot be used. @param reason in the words of the system or of SQLite */
export function describeObstacle(reason: string): StorageObstacle {
  const found = obstacles.find(({ pattern }) => pattern.test(reason));
  return found ?? { what: 'its disk fails', advice: 'mend its disk' };
}

/** Whether a folder has room for what may be written next. */
export async function hasFreeSpace(dir: string): Promise<boolean> {
  const file = path.join(dir, 'room');
  try {
    await using handle = await open(file, 'w', 0o600);
    await handle.writeFile(Buffer.alloc(freeSpaceBytes));
    await handle.sync();
    return true;
  } catch {
    return false;
  } finally {
    await rm(file, { force: true }).catch(() => undefined);
  }
}

/** An error of a disk in the words of the system: Node says `ENOSPC: no space left on device, write`. */
export function toReason(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return /^[A-Z0-9]+: ([^,]+)/.exec(message)?.[1] ?? message;
}
