import { readFile } from 'node:fs/promises';

/** MiB of a process that are resident, as Linux tells in /proc. */
export async function readMemoryMiB(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) / 1024;
}
