import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { waitAtMost } from '#core/deadline.ts';
import { systemClock } from '#platform/services/system.ts';

/** Busdriver's drain and the stop of the control plane's components take up to ten seconds. */
const stopTimeoutMs = 15_000;
/** How much of a process's error output is kept for an error message, in characters. */
const errorTailLength = 4_000;

/** How a process ended. */
export interface ProcessExit {
  /** Exit code, 0 after a proper stop; null when a signal ended it. */
  readonly code: number | null;
  /** The signal that ended it, or null. */
  readonly signal: NodeJS.Signals | null;
  /** The end of what the process wrote to stderr, such as the reason why a component ended. */
  readonly errorOutput: string;
}

/** Resolves when a process has ended, or could not be started; it never rejects. */
export function watchExit(child: ChildProcess): Promise<ProcessExit> {
  let errorOutput = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    errorOutput = (errorOutput + text).slice(-errorTailLength);
  });
  child.stdin?.on('error', () => undefined); // it ended while we let go of it
  return new Promise((resolve) => {
    child.once('close', (code, signal) => resolve({ code, signal, errorOutput }));
    child.once('error', (error) => resolve({ code: null, signal: null, errorOutput: error.message }));
  });
}

/** Ends a process, after 15 seconds by force, and waits until it has ended. @param exited of {@link watchExit} */
export async function stopProcess(child: ChildProcess, exited: Promise<ProcessExit>): Promise<void> {
  child.stdin?.end();
  child.kill('SIGTERM');
  if (!(await waitAtMost(systemClock, stopTimeoutMs, exited))) child.kill('SIGKILL');
  await exited;
}

/** The first line of a process's output. It waits for as long as there is none. @throws AbortError at the signal */
export async function readFirstLine(stdout: Readable | null, signal: AbortSignal): Promise<string> {
  if (stdout === null) throw new TypeError('stdout is not a pipe');
  const [line] = await once(createInterface(stdout), 'line', { signal });
  return String(line);
}
