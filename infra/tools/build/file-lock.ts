import { open, rm, stat, utimes } from 'node:fs/promises';
import { wallClock } from '#platform/services/system.ts';

const heartbeatIntervalMs = 5_000;
/** A lock without a heartbeat for this long belongs to a process that was killed. */
const staleAfterMs = 30_000;

/**
 * Takes a lock between processes, in the form of a file that its owner touches every five seconds. It saves
 * repeated work and does no more: after a kill -9 two waiting processes may, rarely, both take a stale lock.
 *
 * @param file an absolute path in an existing folder
 * @returns the lock, released on disposal; undefined while another process holds it
 * @throws {Error} when the file cannot be written for another reason
 */
export async function takeFileLock(file: string): Promise<AsyncDisposable | undefined> {
  try {
    await (await open(file, 'wx')).close();
  } catch (error) {
    if (!isErrorWithCode(error, 'EEXIST')) throw error;
    await removeIfStale(file);
    return undefined;
  }
  const heartbeat = setInterval(() => void touch(file), heartbeatIntervalMs);
  return {
    async [Symbol.asyncDispose]() {
      clearInterval(heartbeat);
      await rm(file, { force: true });
    },
  };
}

async function removeIfStale(file: string): Promise<void> {
  const touchedAtMs = await stat(file).then(
    ({ mtimeMs }) => mtimeMs,
    () => wallClock.now(),
  );
  if (wallClock.now() - touchedAtMs > staleAfterMs) await rm(file, { force: true });
}

/** A lock that vanished (another process found it stale) is no reason to stop. */
async function touch(file: string): Promise<void> {
  const now = new Date(wallClock.now());
  await utimes(file, now, now).catch(() => undefined);
}

function isErrorWithCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
