import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { memorySettings, nodeOptions } from '#infra/local/memory-settings.ts';

const root = join(import.meta.dirname, '..', '..');

/** Characters of a log that an error message quotes. */
const logTailLength = 2_000;

/** Numbers of calls by name, such as `PutItem` or `Kubernetes GET`. */
export type CallCounts = { readonly [name: string]: number };

/** What `npm start` starts, as its own process, watched from outside. Disposing stops it. */
export interface RunningSystem extends AsyncDisposable {
  readonly url: string;
  readonly account: string;
  readonly pid: number;
  /** Milliseconds from the start of the process to its ready line. */
  readonly readyMs: number;
  /** The calls it made since it was last asked. Answers only where counting was asked for. */
  takeCounts(): Promise<CallCounts>;
  /** How the process ended, with the end of its log; undefined while it runs. */
  findEnd(): Promise<string | undefined>;
}

export interface RunningSystemOptions {
  /** Folder for its data, its settings and its log; made where there is none. */
  readonly dir: string;
  readonly kubeconfig: string;
  /** Further fields of its account, such as `namespaces`. */
  readonly account: object;
  readonly accounts?: readonly object[];
  /** Further sections of its settings, such as `busdriver`. */
  readonly settings?: object;
  /** `kubernetes.cache` of its settings. */
  readonly cache?: object;
  /** Counting costs a little time: not for rows that measure time. */
  readonly counting?: boolean;
}

/**
 * Starts the built system on a free port.
 *
 * @throws Error with the end of its log when it does not become ready
 */
export async function startRunningSystem(options: RunningSystemOptions): Promise<RunningSystem> {
  const { dir } = options;
  await mkdir(dir, { recursive: true });
  const logFile = join(dir, 'log');
  const start = performance.now();
  const child = spawnSystem(await toArguments(options), logFile);
  const closed = once(child, 'close').then(async ([code, signal]) => {
    const log = await readFile(logFile, 'utf8');
    return `the system has ended (${code ?? signal}): ${log.slice(-logTailLength).trim()}`;
  });
  const line = await Promise.race([readLine(child), closed.then((end) => Promise.reject(new Error(end)))]);
  const readyMs = performance.now() - start;
  const { url, pid } = JSON.parse(line) as { url: string; pid: number };
  return {
    url,
    account: 'bench',
    pid,
    readyMs,
    async takeCounts() {
      const answer = once(child, 'message');
      child.send('counts');
      return (await answer)[0] as CallCounts;
    },
    findEnd: async () => (child.exitCode === null && child.signalCode === null ? undefined : closed),
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM');
      await closed;
    },
  };
}

async function toArguments(options: RunningSystemOptions): Promise<string[]> {
  const { dir, kubeconfig, account, cache = {}, counting = false } = options;
  const config = join(dir, 'clouddriver.yml');
  const own = { name: 'bench', kubeconfigFile: kubeconfig, ...account };
  const kubernetes = { enabled: true, accounts: [own, ...(options.accounts ?? [])], cache };
  await writeFile(config, JSON.stringify({ ...options.settings, kubernetes }));
  return [
    ...(counting ? ['--import', join(import.meta.dirname, 'count-calls.ts')] : []),
    join(root, 'dist', 'local', 'main.js'),
    ...['--json', '--port', '0', '--data-dir', join(dir, 'data'), '--config', config],
  ];
}

/** As `npm start` does it, with its log in a file. By the IPC channel it ends with this process. */
function spawnSystem(parameters: readonly string[], logFile: string): ChildProcess {
  const log = openSync(logFile, 'a');
  try {
    const env = { ...process.env, ...memorySettings };
    return spawn(process.execPath, [...nodeOptions, ...parameters], {
      stdio: ['ignore', 'pipe', log, 'ipc'],
      env,
    });
  } finally {
    closeSync(log);
  }
}

async function readLine({ stdout }: ChildProcess): Promise<string> {
  if (stdout === null) throw new Error('the system has no standard output');
  const [line] = await once(createInterface(stdout), 'line');
  return String(line);
}
