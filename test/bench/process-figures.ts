import { readFile } from 'node:fs/promises';
import { readMemoryMiB } from '#test/support/system/process-memory.ts';

/** Milliseconds in a tick, in which Linux counts what processes use. */
const tickMs = 10;

export interface ProcessFigures {
  /** MiB that are resident. */
  readonly memoryMiB: number;
  /** Milliseconds of processors since it began, all its threads together; exact to some ticks of 10 ms. */
  readonly processorMs: number;
}

/**
 * Reads what a process uses.
 *
 * @throws Error that names the process when there is none
 */
export async function readProcessFigures(pid: number): Promise<ProcessFigures> {
  try {
    const [memoryMiB, stat] = await Promise.all([readMemoryMiB(pid), readFile(`/proc/${pid}/stat`, 'utf8')]);
    return { memoryMiB, processorMs: parseProcessorMs(stat) };
  } catch (error) {
    throw new Error(`process ${pid} has ended, or /proc does not tell of it`, { cause: error });
  }
}

/** Milliseconds of processors in the text of /proc/PID/stat: its 14th and 15th field, user and system. */
function parseProcessorMs(stat: string): number {
  // The second field is the name in parentheses, which may hold anything.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * tickMs;
}
