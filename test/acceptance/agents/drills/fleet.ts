import { type ChildProcess, spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { makeTempDir } from '#test/support/run/temp-dir.ts';

export interface StartFleetOptions {
  /** Where Busdriver answers. */
  readonly url: string;
  readonly token: string;
  readonly kubeConfigFile: string;
  readonly accounts: readonly string[];
  readonly processes: number;
}

/** Many agents in some processes. Disposing stops them. */
export interface Fleet extends AsyncDisposable {
  /** Sessions that they opened so far. */
  readonly sessions: number;
  readonly connected: number;
  /** What they logged as warnings and errors so far, without what they say while Busdriver is away. */
  readonly troubles: readonly string[];
}

const stopTimeoutMs = 30_000;

/** What an agent says while Busdriver is away. */
const awayMessages = new Set([
  'Busdriver cannot be asked for work',
  'a task waits for Busdriver',
  'no session with Busdriver',
  'stopped working on a task',
]);

/** Starts as many agents as there are accounts, all at once. None need have a session yet. */
export async function startFleet(options: StartFleetOptions): Promise<Fleet> {
  await using starting = new AsyncDisposableStack();
  const dir = starting.use(await makeTempDir());
  await writeFile(path.join(dir.path, 'token'), options.token, { mode: 0o600 });
  const { accounts, processes } = options;
  const fleet = new RunningFleet();
  starting.defer(() => fleet.stop());
  for (let index = 0; index < processes; index += 1) {
    const own = accounts.filter((_, each) => each % processes === index);
    const file = path.join(dir.path, `fleet-${index}.json`);
    await writeFile(file, JSON.stringify(own.map((account) => toDocument(account, options))));
    fleet.start(file);
  }
  const running = starting.move();
  return Object.assign(fleet, { [Symbol.asyncDispose]: () => running.disposeAsync() });
}

function toDocument(name: string, { url, kubeConfigFile }: StartFleetOptions): object {
  return {
    busdriver: { url, tokenFile: 'token', transport: 'websocket' },
    kubernetes: { accounts: [{ name, kubeConfigFile }] },
    ...{ server: { port: 0 }, prometheus: { enabled: false } },
  };
}

class RunningFleet {
  sessions = 0;
  connected = 0;
  readonly troubles: string[] = [];
  readonly #children: ChildProcess[] = [];

  start(file: string): void {
    const main = path.join(import.meta.dirname, 'fleet-main.ts');
    const child = spawn(process.execPath, [main, file], { stdio: ['ignore', 'pipe', 'pipe', 'ipc'] });
    this.#children.push(child);
    for (const stream of [child.stdout, child.stderr]) {
      let rest = '';
      stream?.setEncoding('utf8').on('data', (text: string) => {
        const lines = (rest + text).split('\n');
        rest = lines.pop() ?? '';
        for (const line of lines) this.#read(line);
      });
    }
  }

  #read(line: string): void {
    if (line.includes('"message":"session with Busdriver"')) this.sessions += 1;
    else if (line.includes('"message":"connected: Busdriver tells of work"')) this.connected += 1;
    else if (line.includes('"message":"the connection for hints ended"')) this.connected -= 1;
    else if (!line.includes('"level":"INFO"') && !awayMessages.has(readMessage(line)))
      this.troubles.push(line);
  }

  async stop(): Promise<void> {
    const ends = this.#children.map(
      (child) =>
        new Promise((resolve) => (child.exitCode === null ? child.once('close', resolve) : resolve(0))),
    );
    for (const child of this.#children) child.kill('SIGTERM');
    const timer = setTimeout(() => {
      for (const child of this.#children) child.kill('SIGKILL');
    }, stopTimeoutMs);
    await Promise.all(ends);
    clearTimeout(timer);
  }
}

function readMessage(line: string): string {
  try {
    return String((JSON.parse(line) as { message?: unknown }).message);
  } catch {
    return line;
  }
}
