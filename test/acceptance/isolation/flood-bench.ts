import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { createNamespace, type TestCluster } from '#test/support/cluster/cluster.ts';
import { makeTempDir } from '#test/support/run/temp-dir.ts';
import { readMemoryMiB } from '#test/support/system/process-memory.ts';
import { type System, startSystem } from '#test/support/system/system.ts';
import { attackedAccount } from './flood-data.ts';

/** Milliseconds that nobody else may wait longer. */
export const waitMax = 5_000;

/** MiB by which the process may grow at most, and by how much it may have grown for good. */
export const growthMax = 300;
const keptMax = 150;

/** Milliseconds in which memory is given back: V8 collects what is old when the process has time for it. */
export const givenBackMs = 120_000;

export interface InnocentWait {
  readonly what: string;
  readonly ms: number;
}

export interface Watching<T> {
  stop(): Promise<T>;
}

export interface FloodBenchOptions {
  readonly cluster: TestCluster;
  /** API servers that mean harm, as kubeconfigs: each becomes an account `hostile-<index>`. */
  readonly hostileKubeconfigs?: readonly string[];
}

/** A system with an innocent user, and accounts from which harm comes. */
export class FloodBench implements AsyncDisposable {
  readonly system: System;
  readonly #namespace: string;
  readonly #parts: AsyncDisposableStack;
  #idleMiB = 0;
  #taskId = '';

  private constructor(system: System, namespace: string, parts: AsyncDisposableStack) {
    this.system = system;
    this.#namespace = namespace;
    this.#parts = parts;
  }

  /** Starts the system, and has it at work for a while: a process at work is larger than one that has just started. */
  static async start({ cluster, hostileKubeconfigs = [] }: FloodBenchOptions): Promise<FloodBench> {
    await using starting = new AsyncDisposableStack();
    const dir = starting.use(await makeTempDir());
    const namespace = starting.use(await createNamespace('flood'));
    const own = ['innocent', attackedAccount].map((name) => ({ name, kubeconfigFile: cluster.kubeconfig }));
    const hostile = hostileKubeconfigs.map(async (text, index) => {
      const kubeconfigFile = join(dir.path, `hostile-${index}.yml`);
      await writeFile(kubeconfigFile, text);
      return { name: `hostile-${index}`, kubeconfigFile };
    });
    const system = starting.use(
      await startSystem({ settings: toSettings([...own, ...(await Promise.all(hostile))]) }),
    );
    const bench = new FloodBench(system, namespace.name, starting.move());
    await bench.#warmUp();
    return bench;
  }

  async #warmUp(): Promise<void> {
    this.#taskId = await this.#deploy('first');
    for (let index = 0; index < 20; index += 1) await this.#deploy(`warm-${index}`);
    this.#idleMiB = await readMemoryMiB(this.system.pid);
  }

  /** Waits until the process is about as large as it was. @throws Error when it stays larger for good */
  async expectMemoryBack(): Promise<void> {
    await expect
      .poll(() => readMemoryMiB(this.system.pid), { timeout: givenBackMs, interval: 1_000 })
      .toBeLessThan(this.#idleMiB + keptMax);
  }

  /** Asks and deploys as an innocent user does, again and again. */
  watchInnocent(): Watching<readonly InnocentWait[]> {
    const waits: InnocentWait[] = [];
    let isOver = false;
    const measure = async (what: string, work: () => Promise<unknown>) => {
      const startMs = performance.now();
      await work();
      waits.push({ what, ms: Math.round(performance.now() - startMs) });
    };
    const ask = async () => {
      while (!isOver) {
        await measure('health', () => this.#get('/health'));
        await measure('task', () => this.#get(`/task/${this.#taskId}`));
        await sleep(20);
      }
    };
    const asking = ask();
    const deploying = measure('deploy', () => this.#deploy('again'));
    return {
      async stop() {
        await deploying;
        isOver = true;
        await asking;
        return waits;
      },
    };
  }

  /** Looks how large the process is. @returns by how many MiB it has grown at most, once it is stopped */
  watchGrowth(): Watching<number> {
    let peakMiB = 0;
    let isOver = false;
    const watch = async () => {
      while (!isOver) {
        peakMiB = Math.max(peakMiB, await readMemoryMiB(this.system.pid));
        await sleep(50);
      }
    };
    const watching = watch();
    return {
      stop: async () => {
        isOver = true;
        await watching;
        return peakMiB - this.#idleMiB;
      },
    };
  }

  async #get(path: string): Promise<void> {
    const url = new URL(path, this.system.url);
    const response = await fetch(url, { headers: { 'x-spinnaker-user': 'innocent' } });
    await response.text();
    if (response.status !== 200) throw new Error(`GET ${path}: ${response.status}`);
  }

  async #deploy(color: string): Promise<string> {
    const manifest = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: {
        name: 'innocent',
        namespace: this.#namespace,
        annotations: { 'strategy.spinnaker.io/versioned': 'false' },
      },
      data: { color },
    };
    const description = { account: 'innocent', moniker: { app: 'innocent' }, manifests: [manifest] };
    const id = await this.system.postOperations([{ deployManifest: description }], { user: 'innocent' });
    const task = await this.system.waitForTask(id);
    if (task.status.failed) throw new Error(`The deploy failed: ${JSON.stringify(task.history.slice(-3))}`);
    return id;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#parts.disposeAsync();
  }
}

/** Artifacts may come from this machine, where the hostile servers are. */
function toSettings(accounts: readonly object[]): object {
  const urlRestrictions = {
    rejectLocalhost: false,
    rejectLinkLocal: false,
    rejectVerbatimIps: false,
    allowedSchemes: ['http', 'https'],
  };
  return {
    kubernetes: { enabled: true, accounts },
    artifacts: { http: { enabled: true, accounts: [{ name: 'http', urlRestrictions }] } },
  };
}
