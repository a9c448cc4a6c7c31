import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { waitAtMost } from '#core/deadline.ts';
import { asString, getPath } from '#core/json.ts';
import { nodeOptions } from '#infra/local/memory-settings.ts';
import { systemClock } from '#platform/services/system.ts';

/** Its own drain takes up to ten seconds. */
const stopTimeoutMs = 15_000;

/** How much of the process's error output is kept for an error message, in characters. */
const errorTailLength = 2_000;

/** How to start a Busdriver of one's own. */
export interface StartDemoSystemOptions {
  /** The program of `npm start`: `main.js` of the build, or `main.ts`. */
  readonly mainFile: string;
  readonly kubeconfig: string;
  /** Ends the start. */
  readonly signal: AbortSignal;
}

/** A Busdriver of one's own. Disposing ends it and removes its data. */
export interface DemoSystem extends AsyncDisposable {
  readonly url: string;
  /** Resolves when the process has ended, with the end of its error output. */
  readonly exited: Promise<string>;
}

/**
 * Starts Busdriver as a process of its own, on a free port and an empty data directory. It ends with this process, even
 * after kill -9: it watches the channel between them.
 *
 * @throws Error with the end of its error output when it ends before it is ready
 */
export async function startDemoSystem(options: StartDemoSystemOptions): Promise<DemoSystem> {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'busdriver-demo-'));
  const child = spawn(process.execPath, toArguments(options, dataDir), {
    // Its own process group: Ctrl-C reaches the demo alone, which then ends it in good order.
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  const exited = watchExit(child);
  const stop = async (): Promise<void> => {
    await stopProcess(child, exited);
    await rm(dataDir, { recursive: true, force: true });
  };
  try {
    return { url: await waitForUrl(child, exited, options.signal), exited, [Symbol.asyncDispose]: stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

function toArguments({ mainFile, kubeconfig }: StartDemoSystemOptions, dataDir: string): string[] {
  const address = ['--json', '--port', '0', '--data-dir', dataDir];
  return [...nodeOptions, mainFile, ...address, '--kubeconfig', kubeconfig, '--log-level', 'warn'];
}

function watchExit(child: ChildProcess): Promise<string> {
  let errorOutput = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    errorOutput = (errorOutput + text).slice(-errorTailLength);
  });
  return new Promise((resolve) => {
    child.once('close', () => resolve(errorOutput.trim()));
    child.once('error', (error) => resolve(error.message));
  });
}

async function waitForUrl(
  child: ChildProcess,
  exited: Promise<string>,
  signal: AbortSignal,
): Promise<string> {
  if (child.stdout === null) throw new TypeError('stdout is not a pipe');
  const line = once(createInterface(child.stdout), 'line', { signal });
  const ended = exited.then((output) => {
    throw new Error(`Busdriver ended before it was ready: ${output}`);
  });
  const [text] = await Promise.race([line, ended]);
  const url = asString(getPath(JSON.parse(String(text)), 'url'));
  if (url === undefined) throw new TypeError(`Busdriver's ready line has no url: ${text}`);
  return url;
}

async function stopProcess(child: ChildProcess, exited: Promise<string>): Promise<void> {
  // Not by closing the channel: a process that lets go of it itself is never told that the child's streams are closed.
  child.kill('SIGTERM');
  if (!(await waitAtMost(systemClock, stopTimeoutMs, exited))) child.kill('SIGKILL');
  await exited;
}
