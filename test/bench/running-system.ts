import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { readEngineCredentials } from '../support/engine-file.ts';
import { getEventsPage } from '../support/signed-fetch.ts';

const root = join(import.meta.dirname, '..', '..');

/** Numbers of calls by name, such as `PutItem` or `Kubernetes GET`. */
export type CallCounts = { readonly [name: string]: number };

/** What `npm start` starts, as its own process, watched from outside. */
export interface RunningSystem extends AsyncDisposable {
  readonly url: string;
  /** Name of its first account. */
  readonly account: string;
  /** Gets a page of its EventBridge, such as `/events`. */
  getEventsPage(path: string): Promise<unknown>;
  /** Milliseconds from the start of the process to its ready line. */
  readonly readyMs: number;
  /** Resident memory of the process with all its engines, MiB. */
  readMemoryMiB(): Promise<number>;
  /** Seconds of a processor that the process used so far. */
  readCpuSeconds(): Promise<number>;
  /** The calls it made since it was last asked. Answers only where counting was asked for. */
  takeCounts(): Promise<CallCounts>;
}

/** Starts the built system on a free port. */
export async function startRunningSystem(options: {
  readonly kubeconfig: string;
  readonly dataDir: string;
  /** Spinnaker YAML with accounts, instead of the contexts of the kubeconfig. */
  readonly config?: string;
  /** Counting costs a little time: not for rows that measure time. */
  readonly counting?: boolean;
}): Promise<RunningSystem> {
  const preload = options.counting ? ['--import', join(import.meta.dirname, 'count-calls.ts')] : [];
  const main = join(root, 'dist', 'local', 'main.js');
  const parameters = [
    '--json',
    '--port',
    '0',
    '--data-dir',
    options.dataDir,
    '--kubeconfig',
    options.kubeconfig,
    ...(options.config === undefined ? [] : ['--config', options.config]),
  ];
  const start = performance.now();
  const child = spawn(process.execPath, [...preload, main, ...parameters], {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  const line = await readLine(child);
  const readyMs = performance.now() - start;
  const { url, accounts, engines } = JSON.parse(line) as {
    url: string;
    accounts: string[];
    engines: { eventbridge: string };
  };
  const credentials = await readEngineCredentials(options.dataDir);
  return {
    url,
    account: accounts[0] ?? '',
    getEventsPage: (page) => getEventsPage(engines.eventbridge, page, credentials),
    readyMs,
    readMemoryMiB: () => readMemoryMiB(child.pid ?? 0),
    readCpuSeconds: () => readCpuSeconds(child.pid ?? 0),
    async takeCounts() {
      const answer = once(child, 'message');
      child.send('counts');
      return (await answer)[0] as CallCounts;
    },
    async [Symbol.asyncDispose]() {
      const closed = once(child, 'close');
      child.kill('SIGTERM');
      await closed;
    },
  };
}

async function readLine(child: ChildProcess): Promise<string> {
  const { stdout } = child;
  if (stdout === null) throw new Error('the system has no standard output');
  const ended = once(child, 'close').then(() =>
    Promise.reject(new Error('the system ended before it was ready')),
  );
  return Promise.race([once(createInterface(stdout), 'line').then(([line]) => String(line)), ended]);
}

/** Linux tells it in /proc. */
async function readMemoryMiB(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) / 1024;
}

/** Linux counts it in ticks, a hundred a second. */
async function readCpuSeconds(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
}
