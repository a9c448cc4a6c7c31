import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

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
