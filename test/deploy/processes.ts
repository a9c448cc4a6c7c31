import { execFile } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);

const pollIntervalMs = 10;

/** A process of this machine. */
export interface RunningProcess {
  readonly pid: number;
  /** Its command line. */
  readonly command: string;
}

/** The processes that a process has started, and those that they have. */
export async function listDescendants(pid: number): Promise<RunningProcess[]> {
  const { stdout } = await run('ps', ['-A', '-o', 'pid=,ppid=,args='], { maxBuffer: 64 << 20 });
  const children = new Map<number, RunningProcess[]>();
  for (const line of stdout.split('\n')) {
    const [, own, parent, command = ''] = /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line) ?? [];
    if (own === undefined) continue;
    const siblings = children.get(Number(parent)) ?? [];
    children.set(Number(parent), [...siblings, { pid: Number(own), command }]);
  }
  const collect = (parent: number): RunningProcess[] =>
    (children.get(parent) ?? []).flatMap((child) => [child, ...collect(child.pid)]);
  return collect(pid);
}

/** Ends processes at once, as a crash would; those that have ended meanwhile are left alone. */
export function endProcesses(pids: readonly number[]): void {
  for (const pid of pids) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
    }
  }
}

/**
 * Waits until processes have ended so far that their parent can see it: no thread of theirs is left, and what is left is an entry
 * that the parent has not read yet. A process that is being ended has no command line any more, and still looks alive to its
 * parent.
 */
export async function waitUntilEnded(pids: readonly number[]): Promise<void> {
  for (;;) {
    const { stdout } = await run('ps', ['-A', '-o', 'pid=,stat=,nlwp='], { maxBuffer: 64 << 20 });
    const states = stdout.split('\n').map((line) => line.trim().split(/\s+/));
    const isAlive = ([pid, state = '', threads]: readonly string[]): boolean =>
      pids.includes(Number(pid)) && !(state.startsWith('Z') && Number(threads) <= 1);
    if (!states.some(isAlive)) return;
    await sleep(pollIntervalMs);
  }
}
