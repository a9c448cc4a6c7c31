import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { memorySettings, nodeOptions } from '#infra/local/memory-settings.ts';
import { buildLocal } from '#infra/tools/build/build.ts';
import { tasksTable } from '#platform/aws/tables.ts';
import { getEventsPage } from '../engines/events-page.ts';
import { localClientOptions } from '../engines/local-aws-client.ts';
import type { EnginesMessage } from '../engines/serve-engines.ts';
import { awaitEmptyQueue, type Stores } from '../engines/stores.ts';
import { makeTempDir } from '../run/temp-dir.ts';
import { ApiCaller } from './api-caller.ts';

export type { SystemTask } from './api-caller.ts';

const root = path.resolve(import.meta.dirname, '../../..');
const outputDir = path.join(root, 'dist', 'local');

/** Serves the engines of the process, at which nobody could look otherwise. */
const inspector = path.join(root, 'test', 'support', 'engines', 'serve-engines.ts');

const startTimeoutMs = 180_000;
/** The system itself gives running operations ten seconds. */
const stopTimeoutMs = 20_000;
const idleTimeoutMs = 180_000;
/** How much of the system's error output an error message quotes, in characters. */
const tailLength = 4_000;

/** How to start the system. */
export interface StartSystemOptions {
  /** Kubeconfig whose contexts are the accounts, such as that of the shared test cluster. */
  readonly kubeconfig?: string;
  /** Spinnaker YAML files or folders with accounts. */
  readonly config?: readonly string[];
  /** What stands in a file of its own, before those of `config`. */
  readonly settings?: object;
  /** Default: a temporary folder, removed on disposal. */
  readonly dataDir?: string;
  /** Further arguments of `npm start`. */
  readonly args?: readonly string[];
  /** Further environment variables. */
  readonly env?: { readonly [name: string]: string };
  /** Modules that are loaded before the program: absolute paths. */
  readonly preload?: readonly string[];
}

/** How a process ended. */
export interface SystemExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** An event on the bus. */
export interface BusEvent {
  readonly 'detail-type': string;
  readonly source: string;
  readonly detail: { readonly [name: string]: unknown };
}

/** What acceptance tests are about, wherever it runs. */
export interface Subject
  extends AsyncDisposable,
    Pick<ApiCaller, 'url' | 'fetch' | 'postOperations' | 'waitForTask'> {
  /** Names of the accounts at the start. */
  readonly accounts: readonly string[];
  readonly stores: Stores;
  /** Waits until no queue holds a message that is visible or being worked on; delayed ones may be left. */
  idle(): Promise<void>;
  /** Everything that was published on the bus, oldest first. */
  readEvents(): Promise<readonly BusEvent[]>;
  /** Everything that functions logged since the start. */
  readLog(): Promise<string>;
}

/**
 * The running system on this machine. Its URL is another one after `restart`. Disposing stops it, and removes its data unless the
 * test chose the folder.
 */
export interface System extends Subject {
  readonly pid: number;
  readonly engines: { readonly dynamodb: string; readonly sqs: string; readonly eventbridge: string };
  readonly dataDir: string;
  /** What it wrote to standard output and to standard error so far. */
  readonly stdout: string;
  readonly stderr: string;
  /** Resolves when the present process has ended. */
  readonly exited: Promise<SystemExit>;
  /** Sends a signal and waits for the end. */
  kill(signal: NodeJS.Signals): Promise<SystemExit>;
  /** Starts it again on the same data, after stopping it where it still runs. */
  restart(): Promise<void>;
}

/**
 * Starts what `npm start` starts, built from the present sources, on free ports.
 *
 * @throws Error when it does not become ready, with what it wrote to standard error
 */
export async function startSystem(options: StartSystemOptions = {}): Promise<System> {
  await buildLocal({ root, outputDir });
  await using starting = new AsyncDisposableStack();
  const own = starting.use(await makeTempDir()).path;
  const { settings, config = [], dataDir = path.join(own, 'data') } = options;
  await mkdir(path.join(own, 'data'), { mode: 0o700 });
  const file = path.join(own, 'clouddriver.yml');
  if (settings !== undefined) await writeFile(file, JSON.stringify(settings));
  const files = settings === undefined ? config : [file, ...config];
  const system = new RunningSystem(dataDir, { ...options, config: files });
  await system.start();
  starting.defer(() => system.stop());
  const running = starting.move();
  return Object.assign(system, { [Symbol.asyncDispose]: () => running.disposeAsync() });
}

interface ReadyLine extends Pick<System, 'url' | 'pid' | 'accounts'> {
  readonly ready: true;
}

interface Started extends ReadyLine, EnginesMessage {}

class RunningSystem extends ApiCaller implements Omit<System, typeof Symbol.asyncDispose> {
  readonly dataDir: string;
  stdout = '';
  stderr = '';
  readonly #options: StartSystemOptions;
  #child: ChildProcess | undefined;
  #exited: Promise<SystemExit> = Promise.resolve({ code: 0, signal: null });
  #ready: Started | undefined;

  constructor(dataDir: string, options: StartSystemOptions) {
    super();
    this.dataDir = dataDir;
    this.#options = options;
  }

  get url(): string {
    return this.#getReady().url;
  }

  get pid(): number {
    return this.#getReady().pid;
  }

  get engines(): System['engines'] {
    return this.#getReady().engines;
  }

  get accounts(): readonly string[] {
    return this.#getReady().accounts;
  }

  get exited(): Promise<SystemExit> {
    return this.#exited;
  }

  async start(): Promise<void> {
    const { env, preload = [] } = this.#options;
    // With the IPC channel it ends when this process ends, however that happens.
    const modules = [inspector, ...preload].flatMap((file) => ['--import', file]);
    const main = [...modules, path.join(outputDir, 'main.js')];
    const args = [...nodeOptions, ...main, ...this.#toArguments()];
    const child = spawn(process.execPath, args, {
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      env: { ...process.env, ...memorySettings, ...env },
    });
    this.#child = child;
    this.#exited = new Promise((resolve) => {
      child.once('close', (code, signal) => resolve({ code, signal }));
    });
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.stderr += text;
    });
    const engines = once(child, 'message').then(([message]) => message as EnginesMessage);
    const line = await Promise.race([
      this.#readLine(child),
      this.#exited,
      sleep(startTimeoutMs, undefined, { ref: false }),
    ]);
    if (typeof line !== 'string') {
      child.kill('SIGKILL');
      throw new Error(`The system was not ready (${JSON.stringify(line)})${await this.describe()}`);
    }
    this.#ready = { ...JSON.parse(line), ...(await engines) };
  }

  get stores(): Stores {
    const { dynamodb, sqs } = this.engines;
    const { credentials } = localClientOptions;
    return { dynamodb, sqs, tasksTable: tasksTable.name, operationsQueue: 'operations', credentials };
  }

  async idle(): Promise<void> {
    if (await awaitEmptyQueue(this.stores, idleTimeoutMs)) return;
    throw new Error(`The queue is not idle${await this.describe()}`);
  }

  async readEvents(): Promise<readonly BusEvent[]> {
    const page = await getEventsPage(this.engines.eventbridge);
    const { events } = page as { events: { event: BusEvent }[] };
    return events.map(({ event }) => event);
  }

  async readLog(): Promise<string> {
    return this.stdout + this.stderr;
  }

  async kill(signal: NodeJS.Signals): Promise<SystemExit> {
    this.#child?.kill(signal);
    return this.#exited;
  }

  async restart(): Promise<void> {
    await this.stop();
    await this.start();
  }

  async stop(): Promise<void> {
    const child = this.#child;
    child?.kill('SIGTERM');
    const killTimer = setTimeout(() => child?.kill('SIGKILL'), stopTimeoutMs);
    await this.#exited;
    clearTimeout(killTimer);
  }

  #toArguments(): readonly string[] {
    const { kubeconfig, config = [], args = [] } = this.#options;
    return [
      ...['--json', '--port', '0', '--data-dir', this.dataDir],
      ...(kubeconfig === undefined ? [] : ['--kubeconfig', kubeconfig]),
      ...config.flatMap((file) => ['--config', file]),
      ...args,
    ];
  }

  /** The first line of standard output; never resolves when there is none. */
  async #readLine(child: ChildProcess): Promise<string> {
    return new Promise((resolve) => {
      if (child.stdout === null) return;
      child.stdout.setEncoding('utf8').on('data', (text: string) => {
        this.stdout += text;
      });
      createInterface(child.stdout).once('line', resolve);
    });
  }

  #getReady(): Started {
    if (this.#ready === undefined) throw new Error('The system is not ready');
    return this.#ready;
  }

  protected async describe(): Promise<string> {
    return `\nThe end of its error output:\n${this.stderr.slice(-tailLength)}`;
  }
}
