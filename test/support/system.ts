import { type ChildProcess, spawn } from 'node:child_process';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { GetQueueAttributesCommand, ListQueuesCommand, SQSClient } from '@aws-sdk/client-sqs';
import { buildLocal } from '../../infra/local/build.ts';
import { makeTempDir } from './temp-dir.ts';
import { checkResponse } from './validate-answer.ts';

const root = path.resolve(import.meta.dirname, '../..');
const outputDir = path.join(root, 'dist', 'local');

const startTimeoutMs = 60_000;
/** The system itself gives running operations ten seconds. */
const stopTimeoutMs = 20_000;
const idleTimeoutMs = 60_000;
const pollIntervalMs = 5;
/** How much of the system's error output an error message quotes, in characters. */
const tailLength = 4_000;

/** How to start the system. */
export interface StartSystemOptions {
  /** Kubeconfig whose contexts are the accounts, such as that of the shared test cluster. */
  readonly kubeconfig?: string;
  /** Spinnaker YAML files or folders with accounts. */
  readonly config?: readonly string[];
  /** Default: a temporary folder, removed on disposal. */
  readonly dataDir?: string;
  /** Further arguments of `npm start`. */
  readonly args?: readonly string[];
  /** Further environment variables. */
  readonly env?: { readonly [name: string]: string };
}

/** Who posts operations, and under which id. */
export interface PostOptions {
  readonly clientRequestId?: string;
  /** `X-SPINNAKER-USER`. */
  readonly user?: string;
  /** Default `kubernetes`. */
  readonly cloudProvider?: string;
}

/** A task as `GET /task/{id}` answers it. */
export interface SystemTask {
  readonly id: string;
  readonly status: { readonly completed: boolean; readonly failed: boolean; readonly status: string };
  readonly history: readonly { readonly phase: string; readonly status: string }[];
  readonly resultObjects: readonly { readonly [name: string]: unknown }[];
}

/** How a process ended. */
export interface SystemExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** The running system. Disposing stops it, and removes its data unless the test chose the folder. */
export interface System extends AsyncDisposable {
  /** Where the API answers; another one after `restart`. */
  readonly url: string;
  readonly pid: number;
  readonly engines: { readonly dynamodb: string; readonly sqs: string; readonly eventbridge: string };
  readonly dataDir: string;
  /** Names of the accounts at the start. */
  readonly accounts: readonly string[];
  /** What it wrote to standard output and to standard error so far. */
  readonly stdout: string;
  readonly stderr: string;
  /** Resolves when the present process has ended. */
  readonly exited: Promise<SystemExit>;
  /**
   * `fetch` of a path of the API.
   *
   * @throws Error for an answer that the OpenAPI document does not have
   */
  fetch(target: string, init?: RequestInit): Promise<Response>;
  /**
   * Posts operations.
   *
   * @returns the task's id
   * @throws Error for an answer that is not 200
   */
  postOperations(operations: readonly object[], options?: PostOptions): Promise<string>;
  /**
   * Polls a task until it is completed, whether it failed or not.
   *
   * @param timeoutMs default 30 seconds
   * @throws Error when it takes longer, with the task and the system's error output
   */
  waitForTask(id: string, options?: { readonly timeoutMs?: number }): Promise<SystemTask>;
  /** Waits until no queue holds a message that is visible or being worked on; delayed ones may be left. */
  idle(): Promise<void>;
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
  const temporary = options.dataDir === undefined ? await makeTempDir() : undefined;
  const dataDir = options.dataDir ?? temporary?.path ?? '';
  const system = new RunningSystem(dataDir, options);
  try {
    await system.start();
  } catch (error) {
    await temporary?.[Symbol.asyncDispose]();
    throw error;
  }
  return Object.assign(system, {
    async [Symbol.asyncDispose]() {
      await system.stop();
      await temporary?.[Symbol.asyncDispose]();
    },
  });
}

interface ReadyLine extends Pick<System, 'url' | 'pid' | 'engines' | 'accounts'> {
  readonly ready: true;
}

class RunningSystem implements Omit<System, typeof Symbol.asyncDispose> {
  readonly dataDir: string;
  stdout = '';
  stderr = '';
  readonly #options: StartSystemOptions;
  #child: ChildProcess | undefined;
  #exited: Promise<SystemExit> = Promise.resolve({ code: 0, signal: null });
  #ready: ReadyLine | undefined;

  constructor(dataDir: string, options: StartSystemOptions) {
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
    const { env } = this.#options;
    // With the IPC channel it ends when this process ends, however that happens.
    const child = spawn(process.execPath, [path.join(outputDir, 'main.js'), ...this.#toArguments()], {
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      env: { ...process.env, ...env },
    });
    this.#child = child;
    this.#exited = new Promise((resolve) => {
      child.once('close', (code, signal) => resolve({ code, signal }));
    });
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.stderr += text;
    });
    const line = await Promise.race([
      this.#readLine(child),
      this.#exited,
      sleep(startTimeoutMs, undefined, { ref: false }),
    ]);
    if (typeof line !== 'string') {
      child.kill('SIGKILL');
      throw new Error(`The system was not ready (${JSON.stringify(line)})${this.#describe()}`);
    }
    this.#ready = JSON.parse(line);
  }

  async fetch(target: string, init?: RequestInit): Promise<Response> {
    return checkResponse(await fetch(new URL(target, this.url), init), init);
  }

  async postOperations(operations: readonly object[], options: PostOptions = {}): Promise<string> {
    const { clientRequestId, user, cloudProvider = 'kubernetes' } = options;
    const query = clientRequestId ? `?clientRequestId=${encodeURIComponent(clientRequestId)}` : '';
    const response = await this.fetch(`/${cloudProvider}/ops${query}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(user && { 'X-SPINNAKER-USER': user }) },
      body: JSON.stringify(operations),
    });
    const body = await response.text();
    if (response.status !== 200) throw new Error(`POST /${cloudProvider}/ops: ${response.status} ${body}`);
    return JSON.parse(body).id;
  }

  async waitForTask(id: string, { timeoutMs = 30_000 } = {}): Promise<SystemTask> {
    const endsAtMs = performance.now() + timeoutMs;
    for (;;) {
      const response = await this.fetch(`/task/${encodeURIComponent(id)}`);
      const body = await response.text();
      const task: SystemTask | undefined = response.status === 200 ? JSON.parse(body) : undefined;
      if (task?.status.completed) return task;
      if (performance.now() > endsAtMs) {
        throw new Error(`Task ${id} was not completed after ${timeoutMs} ms: ${body}${this.#describe()}`);
      }
      await sleep(pollIntervalMs);
    }
  }

  async idle(): Promise<void> {
    const client = new SQSClient({
      endpoint: this.engines.sqs,
      region: 'us-east-1',
      credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
    });
    try {
      const { QueueUrls = [] } = await client.send(new ListQueuesCommand());
      const endsAtMs = performance.now() + idleTimeoutMs;
      for (const url of QueueUrls) {
        while ((await countMessages(client, url)) > 0) {
          if (performance.now() > endsAtMs) throw new Error(`${url} is not idle${this.#describe()}`);
          await sleep(pollIntervalMs);
        }
      }
    } finally {
      client.destroy();
    }
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
    const patience = setTimeout(() => child?.kill('SIGKILL'), stopTimeoutMs);
    await this.#exited;
    clearTimeout(patience);
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

  #getReady(): ReadyLine {
    if (this.#ready === undefined) throw new Error('The system is not ready');
    return this.#ready;
  }

  #describe(): string {
    return `\nThe end of its error output:\n${this.stderr.slice(-tailLength)}`;
  }
}

async function countMessages(client: SQSClient, url: string): Promise<number> {
  const { Attributes = {} } = await client.send(
    new GetQueueAttributesCommand({
      QueueUrl: url,
      AttributeNames: ['ApproximateNumberOfMessages', 'ApproximateNumberOfMessagesNotVisible'],
    }),
  );
  return Object.values(Attributes).reduce((sum, count) => sum + Number(count), 0);
}
