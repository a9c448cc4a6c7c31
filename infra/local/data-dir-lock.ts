import { mkdir, open, readFile, rm, unlink } from 'node:fs/promises';
import path from 'node:path';

/** Another process uses the data directory. */
export class DataDirInUseError extends Error {
  override readonly name = 'DataDirInUseError';
}

/** Who holds a data directory. */
interface Owner {
  readonly pid: number;
  /** Tells a process from a later one with the same id: its start in the kernel's ticks, `''` where unknown. */
  readonly start: string;
}

/**
 * Claims a data directory for this process until disposal. It is made when missing, for this user alone. A claim of a
 * process that ended without disposing, by kill -9 for example, is taken over.
 *
 * @throws DataDirInUseError naming the process that holds it
 */
export async function lockDataDir(dir: string): Promise<AsyncDisposable> {
  await mkdir(dir, { recursive: true, mode: 0o700 });
  const file = path.join(dir, 'pid');
  while (!(await claim(file))) {
    const owner = await readOwner(file);
    if (owner !== undefined && (await isAlive(owner))) {
      throw new DataDirInUseError(
        `${dir} is in use by process ${owner.pid}: stop it, or pass another --data-dir`,
      );
    }
    await rm(file, { force: true });
  }
  return { [Symbol.asyncDispose]: () => unlink(file).catch(() => undefined) };
}

async function claim(file: string): Promise<boolean> {
  const owner: Owner = { pid: process.pid, start: (await readStat(process.pid)).start };
  try {
    await using handle = await open(file, 'wx', 0o600);
    await handle.writeFile(JSON.stringify(owner));
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    throw error;
  }
}

/** Undefined when the file is gone, or was never finished. */
async function readOwner(file: string): Promise<Owner | undefined> {
  try {
    const { pid, start } = JSON.parse(await readFile(file, 'utf8'));
    return { pid: Number(pid), start: String(start) };
  } catch {
    return undefined;
  }
}

async function isAlive({ pid, start }: Owner): Promise<boolean> {
  if (!isRunning(pid)) return false;
  const stat = await readStat(pid);
  // One that was killed keeps its id until its parent has looked at how it ended, which may be never.
  return !deadStates.has(stat.state) && (start === '' || start === stat.start);
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

/** Zombies, and processes that are just being removed. */
const deadStates = new Set(['Z', 'X', 'x']);

/** Fields 3 and 22 of `/proc/<pid>/stat`, counted behind the command's name, which may hold anything; `''` where there is no such file. */
async function readStat(pid: number): Promise<{ readonly state: string; readonly start: string }> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return { state: fields[0] ?? '', start: fields[19] ?? '' };
}
