import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createNamespace, describeWithCluster, type TestNamespace } from '../support/cluster.ts';
import type { SenderData, SenderReport } from '../support/flood-sender.ts';
import { hostileArtifactHosts } from '../support/hostile-artifact-hosts.ts';
import { hostileServers } from '../support/hostile-servers.ts';
import { readMemoryMiB } from '../support/process-memory.ts';
import { type System, startSystem } from '../support/system.ts';
import { makeTempDir, type TempDir } from '../support/temp-dir.ts';
import { attackedAccount, type HostileRequest, hostileRequests } from './flood-data.ts';

/** Milliseconds that nobody else may wait longer. */
const waitMax = 2_000;

/** MiB by which the process may grow at most, and by how much it may have grown for good. */
const growthMax = 300;
const keptMax = 150;

/** Requests at once that lead to a hostile server, and milliseconds after which they are given up. */
const asksAtOnce = 4;
const serverMs = 5_000;

/** Those of which each takes something else: bytes, memory, processor time, connections. The tests of artifacts ask all of them. */
const costliestHosts = new Set([
  'body without end',
  'body without end, in pieces of one byte',
  'gzip bomb of 4 GiB in 4 MiB',
  'silence',
  'one header of a gigabyte',
  'JSON of a million levels',
]);

/** Milliseconds in which memory is given back. */
const givenBackMs = 60_000;

describeWithCluster('while somebody means harm', (cluster) => {
  let dir: TempDir;
  let namespace: TestNamespace;
  let system: System;
  const servers = new AsyncDisposableStack();
  let idleMiB: number;
  /** A task that was completed before. */
  let taskId: string;

  beforeAll(async () => {
    dir = await makeTempDir();
    namespace = await createNamespace('flood');
    const config = join(dir.path, 'clouddriver.yml');
    const accounts = ['innocent', attackedAccount].map((name) => ({
      name,
      kubeconfigFile: cluster.kubeconfig,
    }));
    const hostile = await startApiServers(dir.path);
    await writeFile(config, JSON.stringify(toSettings([...accounts, ...hostile])));
    system = await startSystem({ config: [config] });
    taskId = await deploy('first');
    // A process at work is larger than one that has just started.
    for (let index = 0; index < 20; index += 1) await deploy(`warm-${index}`);
    idleMiB = await readMemoryMiB(system.pid);
  });

  afterAll(async () => {
    await system[Symbol.asyncDispose]();
    await servers.disposeAsync();
    await namespace[Symbol.asyncDispose]();
    await dir[Symbol.asyncDispose]();
  });

  for (const hostile of hostileRequests) {
    it(`nobody else waits, by ${hostile.title}`, async () => {
      const innocent = watchInnocent();
      const memory = watchMemory();
      const report = await send(hostile);
      const waits = await innocent.stop();
      const peakMiB = await memory.stop();

      expect(waits.length, 'innocent requests').toBeGreaterThan(2);
      expect(Math.max(...waits.map(({ ms }) => ms)), JSON.stringify(waits.slice(0, 50))).toBeLessThan(
        waitMax,
      );
      expect(peakMiB - idleMiB).toBeLessThan(growthMax);
      for (const answer of report.answers) expectAnswer(answer, hostile);
      if (!hostile.isHeld) expect(report.answers.length, 'answers').toBeGreaterThan(0);
    });
  }

  for (const [index, { name }] of hostileServers.entries()) {
    it(`nobody else waits, by an API server: ${name}`, { timeout: 2 * givenBackMs }, () =>
      expectNoHarm(`/manifests/hostile-${index}/default/configMap%20a`),
    );
  }

  for (const { name, start } of hostileArtifactHosts.filter(({ name }) => costliestHosts.has(name))) {
    it(`nobody else waits, by a host of artifacts: ${name}`, { timeout: 2 * givenBackMs }, async () => {
      await using server = await start();
      const artifact = { type: 'http/file', artifactAccount: 'http', reference: `${server.url}/a` };
      await expectNoHarm('/artifacts/fetch', { method: 'PUT', body: JSON.stringify(artifact) });
      // Nobody waits for it any more, so nobody reads it: else a handful of such requests take the processor for minutes.
      await expect.poll(() => server.connections).toBe(0);
    });
  }

  it('memory is given back', { timeout: 2 * givenBackMs }, expectMemoryBack);

  async function expectMemoryBack(): Promise<void> {
    await expect
      .poll(() => readMemoryMiB(system.pid), { timeout: givenBackMs, interval: 1_000 })
      .toBeLessThan(idleMiB + keptMax);
  }

  /** Has a hostile server asked some times at once, as long as it is asked at most. */
  async function expectNoHarm(path: string, init: RequestInit = {}): Promise<void> {
    // One at a time: what the one before took is given back.
    await expectMemoryBack();
    const innocent = watchInnocent();
    const memory = watchMemory();
    const signal = AbortSignal.timeout(serverMs);
    const headers = { 'content-type': 'application/json' };
    const ask = () =>
      fetch(new URL(path, system.url), { ...init, headers, signal })
        .then((response) => response.arrayBuffer())
        .catch(() => undefined);
    await Promise.all(Array.from({ length: asksAtOnce }, ask));
    const waits = await innocent.stop();
    const peakMiB = await memory.stop();

    expect(Math.max(...waits.map(({ ms }) => ms)), JSON.stringify(waits.slice(0, 50))).toBeLessThan(waitMax);
    expect(peakMiB - idleMiB).toBeLessThan(growthMax);
  }

  /** An account for each hostile API server, which are up as long as the system is. */
  async function startApiServers(folder: string): Promise<object[]> {
    return Promise.all(
      hostileServers.map(async ({ start }, index) => {
        const { kubeconfig } = servers.use(await start());
        const kubeconfigFile = join(folder, `hostile-${index}.yml`);
        await writeFile(kubeconfigFile, kubeconfig);
        return { name: `hostile-${index}`, kubeconfigFile };
      }),
    );
  }

  function send(hostile: HostileRequest): Promise<SenderReport> {
    const workerData: SenderData = { url: system.url, title: hostile.title };
    const sender = new Worker(new URL('../support/flood-sender.ts', import.meta.url), { workerData });
    return new Promise((resolve, reject) => {
      sender.once('message', resolve).once('error', reject);
    });
  }

  /** Asks and deploys as an innocent user does, again and again. */
  function watchInnocent() {
    const waits: { what: string; ms: number }[] = [];
    let isOver = false;
    const measure = async (what: string, work: () => Promise<unknown>) => {
      const startMs = performance.now();
      await work();
      waits.push({ what, ms: Math.round(performance.now() - startMs) });
    };
    const ask = async () => {
      while (!isOver) {
        await measure('health', () => get('/health'));
        await measure('task', () => get(`/task/${taskId}`));
        await sleep(20);
      }
    };
    const asking = ask();
    const deploying = measure('deploy', () => deploy('again'));
    return {
      async stop() {
        await deploying;
        isOver = true;
        await asking;
        return waits;
      },
    };
  }

  async function get(path: string): Promise<void> {
    const response = await fetch(new URL(path, system.url), { headers: { 'x-spinnaker-user': 'innocent' } });
    await response.text();
    if (response.status !== 200) throw new Error(`GET ${path}: ${response.status}`);
  }

  /** Deploys, and waits until that is done. */
  async function deploy(color: string): Promise<string> {
    const manifest = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: {
        name: 'innocent',
        namespace: namespace.name,
        annotations: { 'strategy.spinnaker.io/versioned': 'false' },
      },
      data: { color },
    };
    const description = { account: 'innocent', moniker: { app: 'innocent' }, manifests: [manifest] };
    const id = await system.postOperations([{ deployManifest: description }], { user: 'innocent' });
    const task = await system.waitForTask(id);
    if (task.status.failed) throw new Error(`The deploy failed: ${JSON.stringify(task.history.slice(-3))}`);
    return id;
  }

  function watchMemory() {
    let peak = 0;
    let isOver = false;
    const watch = async () => {
      while (!isOver) {
        peak = Math.max(peak, await readMemoryMiB(system.pid));
        await sleep(50);
      }
    };
    const watching = watch();
    return {
      async stop() {
        isOver = true;
        await watching;
        return peak;
      },
    };
  }
});

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

function expectAnswer(
  { status, retryAfter, body }: SenderReport['answers'][number],
  hostile: HostileRequest,
): void {
  expect(hostile.statuses.includes(status) || status === 503, `${status} ${body}`).toBe(true);
  if (status === 503) expect(retryAfter, body).toMatch(/^\d+$/);
}
