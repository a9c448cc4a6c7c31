import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { createWriteStream, type WriteStream } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const startTimeoutMs = 60_000;

export interface LabProcessOptions {
  /** Its module in this folder. */
  readonly module: string;
  readonly args: readonly string[];
  readonly env?: { readonly [name: string]: string };
  /** A file that takes what it logs; lines of earlier processes stay. */
  readonly logFile: string;
  /** A file that says by how many milliseconds its wall clock is off. Default: it is right. */
  readonly clockFile?: string;
  onMessage?(message: unknown): void;
}

/** A process of the laboratory that runs. Disposing kills it. */
export interface LabProcess<First> extends AsyncDisposable {
  /** What it told first: that it is ready. */
  readonly first: First;
  readonly pid: number;
  /** Stops it where it is, as a machine that is suspended. */
  freeze(): void;
  /** Lets it go on. */
  thaw(): void;
  /** Has it read its file of the clock again. */
  rereadClock(): void;
  /** Kills it without a warning, and resolves when it is gone. */
  kill(): Promise<void>;
}

/**
 * Starts a module in a process of its own, with its clock set off. It ends with this one.
 *
 * @throws Error when it ends, or says nothing for a minute
 */
export async function startLabProcess<First>(options: LabProcessOptions): Promise<LabProcess<First>> {
  const { module, args, env, logFile, clockFile, onMessage = () => undefined } = options;
  const preload = path.join(import.meta.dirname, 'clock-offset.ts');
  const log = createWriteStream(logFile, { flags: 'a' });
  const spawnOptions: SpawnOptions = {
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    env: { ...process.env, ...env, ...(clockFile !== undefined && { LAB_CLOCK_FILE: clockFile }) },
  };
  const file = path.join(import.meta.dirname, module);
  const child = spawn(process.execPath, ['--import', preload, file, ...args], spawnOptions);
  keepLog(child, log);
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const first = await Promise.race([takeFirst<First>(child, onMessage), ended, timeOut()]);
  if (first === undefined) {
    child.kill('SIGKILL');
    throw new Error(`${module} did not become ready: see ${logFile}`);
  }
  const kill = async () => {
    child.kill('SIGKILL');
    await ended;
  };
  return {
    first,
    pid: child.pid ?? 0,
    freeze: () => child.kill('SIGSTOP'),
    thaw: () => child.kill('SIGCONT'),
    rereadClock: () => child.kill('SIGUSR2'),
    kill,
    [Symbol.asyncDispose]: kill,
  };
}

function keepLog(child: ChildProcess, log: WriteStream): void {
  child.stdout?.pipe(log, { end: false });
  child.stderr?.pipe(log, { end: false });
  child.once('close', () => log.end());
}

function takeFirst<First>(child: ChildProcess, onMessage: (message: unknown) => void): Promise<First> {
  return new Promise((resolve) => {
    child.once('message', (message) => {
      resolve(message as First);
      child.on('message', onMessage);
    });
  });
}

async function timeOut(): Promise<undefined> {
  await sleep(startTimeoutMs, undefined, { ref: false });
}
