import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { asString, getPath } from '#core/json.ts';
import { nodeOptions } from '#infra/local/memory-settings.ts';
import { readFirstLine, stopProcess, watchExit } from '../child-process.ts';

/** How to start a Busdriver of one's own. */
export interface StartDemoSystemOptions {
  /** The program of `npm start`: `main.js` of the build, or `main.ts`. */
  readonly mainFile: string;
  readonly kubeconfig: string;
  /** Ends the start. */
  readonly signal: AbortSignal;
}

/**
 * Starts Busdriver as a process of its own, on a free port and an empty data directory. It ends with this process, even
 * after kill -9: it watches the channel between them. Disposing ends it and removes its data.
 *
 * @throws Error with the end of its error output when it ends before it is ready
 */
export async function startDemoSystem(options: StartDemoSystemOptions) {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'busdriver-demo-'));
  const child = spawn(process.execPath, toArguments(options, dataDir), {
    // Its own process group: Ctrl-C reaches the demo alone, which then ends it in good order.
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  const exited = watchExit(child);
  const stop = async (): Promise<void> => {
    // Not by closing the channel: a process that lets go of it itself is never told that the child's streams are closed.
    await stopProcess(child, exited);
    await rm(dataDir, { recursive: true, force: true });
  };
  try {
    const line = await Promise.race([readFirstLine(child.stdout, options.signal), exited]);
    if (typeof line !== 'string')
      throw new Error(`Busdriver ended before it was ready: ${line.errorOutput.trim()}`);
    const url = asString(getPath(JSON.parse(line), 'url'));
    if (url === undefined) throw new TypeError(`Busdriver's ready line has no url: ${line}`);
    return { url, exited, [Symbol.asyncDispose]: stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

function toArguments({ mainFile, kubeconfig }: StartDemoSystemOptions, dataDir: string): string[] {
  const address = ['--json', '--port', '0', '--data-dir', dataDir];
  return [...nodeOptions, mainFile, ...address, '--kubeconfig', kubeconfig, '--log-level', 'warn'];
}
