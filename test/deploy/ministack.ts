import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { mkdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { findFreePort } from '#test/support/network/free-port.ts';
import { patchMinistack } from './ministack-patches.ts';
import { endProcesses, listDescendants } from './processes.ts';
import type { PythonEnvironment } from './python-environment.ts';

const run = promisify(execFile);

const startTimeoutMs = 60_000;
const stopTimeoutMs = 15_000;
const pollIntervalMs = 100;

/** The project's folder. */
const root = path.join(import.meta.dirname, '../..');

/** A running emulator of AWS. Disposing stops it and every function that it runs. */
export interface Ministack extends AsyncDisposable {
  /** Endpoint of all its services. */
  readonly endpoint: string;
  readonly pid: number;
  /** What it and the functions wrote. */
  readonly logFile: string;
}

/**
 * Starts ministack on a free port of 127.0.0.1. It runs functions on the Node that is pinned in package.json.
 *
 * @param folder where it puts what it writes
 * @param variables of its environment, beside those that it always has
 * @throws Error when it does not become ready, with the end of its log
 */
export async function startMinistack(
  environment: PythonEnvironment,
  folder: string,
  variables: Readonly<Record<string, string>> = {},
): Promise<Ministack> {
  await patchMinistack(await findPackage(environment));
  const temporary = path.join(folder, 'functions');
  await mkdir(temporary, { recursive: true });
  const port = await findFreePort();
  const logFile = path.join(folder, 'ministack.log');
  // Its own process group: Ctrl-C reaches the runner alone, which then stops it when the stacks are gone.
  const child = spawn(environment.bin('ministack'), [], {
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
    env: { ...toEnvironment(port, temporary), ...variables },
  });
  const log = createWriteStream(logFile);
  child.stdout.pipe(log, { end: false });
  child.stderr.pipe(log, { end: false });
  const endpoint = `http://127.0.0.1:${port}`;
  try {
    await waitUntilReady(endpoint, child);
  } catch (error) {
    await stop(child);
    throw new Error(`${String(error)}\n${await readTail(logFile)}`);
  }
  return { endpoint, pid: child.pid ?? 0, logFile, [Symbol.asyncDispose]: () => stop(child) };
}

/** The end of a log, for people. */
export async function readTail(file: string, lines = 40): Promise<string> {
  const text = await readFile(file, 'utf8').catch(() => '');
  return `The end of ${file}:\n${text.trimEnd().split('\n').slice(-lines).join('\n')}`;
}

async function findPackage({ python }: PythonEnvironment): Promise<string> {
  const program =
    'import importlib.util; print(importlib.util.find_spec("ministack").submodule_search_locations[0])';
  const { stdout } = await run(python, ['-c', program]);
  return stdout.trim();
}

/** The environment of this process without what belongs to AWS: a function must not find the developer's own account. */
function toEnvironment(port: number, temporary: string): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(
    ([name]) => !/^(AWS_|BUSDRIVER_|LOCALSTACK_|VITEST|NODE_OPTIONS$)/.test(name),
  );
  return {
    ...Object.fromEntries(own),
    PATH: [path.join(root, 'node_modules', '.bin'), process.env['PATH']].join(path.delimiter),
    TMPDIR: temporary,
    GATEWAY_PORT: String(port),
    BIND_HOST: '127.0.0.1',
    // Functions that wait for work are ended soon: a burst leaves many.
    LAMBDA_WARM_TTL_SECONDS: '30',
    PERSIST_STATE: '0',
    S3_DATA_DIR: path.join(temporary, 's3'),
    STATE_DIR: path.join(temporary, 'state'),
    PYTHONUNBUFFERED: '1',
  };
}

async function waitUntilReady(endpoint: string, child: ChildProcess): Promise<void> {
  const endsAtMs = performance.now() + startTimeoutMs;
  while (performance.now() < endsAtMs && child.exitCode === null) {
    const answer = await fetch(`${endpoint}/_ministack/health`).catch(() => undefined);
    if (answer?.ok) return;
    await sleep(pollIntervalMs);
  }
  throw new Error(child.exitCode === null ? 'ministack was not ready in time' : 'ministack ended');
}

async function stop(child: ChildProcess): Promise<void> {
  const { pid } = child;
  if (pid === undefined || child.exitCode !== null) return;
  const functions = await listDescendants(pid);
  const exited = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  const killTimer = setTimeout(() => child.kill('SIGKILL'), stopTimeoutMs);
  await exited;
  clearTimeout(killTimer);
  endProcesses(functions.map((each) => each.pid));
}
