import { readFile, writeFile } from 'node:fs/promises';
import path, { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { peerAudience } from '#infra/kubernetes/peers/peer-tokens.ts';
import { buildLocal } from '#infra/tools/build/build.ts';
import { type HomeEngines, startHomeEngines } from '#test/infra/kubernetes/engines.ts';
import { createPod, openToManagers, type TestPod, writeEndpoints } from '#test/infra/kubernetes/pod.ts';
import { type LabProcess, startLabProcess } from '#test/lab/processes.ts';
import { createWorkload } from '#test/shared/providers/kubernetes/manifests.ts';
import { type ApiProxy, type PassingCall, startApiProxy } from '#test/support/cluster/api-proxy.ts';
import {
  createNamespace,
  describeWithCluster,
  findObject,
  type TestNamespace,
} from '#test/support/cluster/cluster.ts';
import { ApiCaller } from '#test/support/system/api-caller.ts';

const podAddresses = {
  'spin-clouddriver-0': '10.98.0.1',
  'spin-clouddriver-1': '10.98.0.2',
  'spin-clouddriver-2': '10.98.0.3',
};

/** A replica in a process of its own, which reaches the cluster of its account by a proxy of its own. */
class Replica extends ApiCaller {
  readonly name: string;
  readonly proxy: ApiProxy;
  readonly process: LabProcess<{ readonly url: string }>;

  constructor(name: string, proxy: ApiProxy, process: LabProcess<{ readonly url: string }>) {
    super();
    this.name = name;
    this.proxy = proxy;
    this.process = process;
  }

  get url(): string {
    return this.process.first.url;
  }

  override async describe(): Promise<string> {
    return ` (${this.name})`;
  }

  /** Names of the objects that it made. */
  listWritten(): string[] {
    return this.proxy.calls.flatMap(({ written }) => (written === undefined ? [] : [written.metadata.name]));
  }
}

describeWithCluster('the Kubernetes home', (cluster) => {
  const stack = new AsyncDisposableStack();
  const replicas: Replica[] = [];
  let engines: HomeEngines;
  let pod: TestPod;
  let ns: TestNamespace;
  /** Told of each call of a replica before the API server is. */
  let before: (replica: string, call: PassingCall) => Promise<void> = async () => undefined;

  beforeAll(async () => {
    engines = stack.use(await startHomeEngines());
    // As in the image: Node, and what was bundled.
    const root = join(import.meta.dirname, '../../..');
    await buildLocal({ root, outputDir: join(engines.dir, 'dist'), entries: ['infra/kubernetes/main.ts'] });
    ns = stack.use(await createNamespace('replicas'));
    pod = stack.use(await createPod());
    await pod.letReviewTokens();
    await writeEndpoints(pod, 'spin-clouddriver', { ready: podAddresses });
    for (const name of Object.keys(podAddresses)) replicas.push(await startReplica(name));
  });
  afterAll(() => stack.disposeAsync());

  async function startReplica(name: string): Promise<Replica> {
    const proxy = stack.use(await startApiProxy(cluster, { before: (call) => before(name, call) }));
    const config = join(engines.dir, `${name}.yml`);
    const account = { name: 'edge', kubeconfigFile: proxy.kubeconfig, namespaces: [ns.name] };
    await writeFile(
      config,
      JSON.stringify({ kubernetes: { enabled: true, accounts: [account] }, ...openToManagers }),
    );
    const options = {
      'pod-name': name,
      config,
      ...{ host: '127.0.0.1', port: '0', 'name-prefix': '', 'log-level': 'warn' },
      'service-account-dir': pod.directory,
      'peer-token-file': await pod.writeToken(peerAudience),
    };
    const process = await startLabProcess<{ readonly url: string }>({
      module: path.relative(join(import.meta.dirname, '../../lab'), join(engines.dir, 'dist/main.js')),
      args: Object.entries(options).map(([option, value]) => `--${option}=${value}`),
      env: { ...engines.environment, ...pod.environment } as { [name: string]: string },
      logFile: join(engines.dir, `${name}.log`),
    });
    return new Replica(name, proxy, stack.use(process));
  }

  function deploy(replica: Replica, name: string): Promise<string> {
    const annotations = { 'strategy.spinnaker.io/versioned': 'false' };
    const manifest = createWorkload('Deployment', name, { namespace: ns.name, replicas: 1, annotations });
    return replica.postOperations([
      { deployManifest: { account: 'edge', moniker: { app: 'home' }, manifests: [manifest] } },
    ]);
  }

  const isThere = async (name: string): Promise<boolean> =>
    (await findObject(`/apis/apps/v1/namespaces/${ns.name}/deployments/${name}`)) !== undefined;

  test('each replica knows all of them', async () => {
    for (const { url } of replicas) {
      const list = async () =>
        (await (await fetch(new URL('/armory/clouddrivers', url))).json()) as { id: string }[];
      await expect.poll(async () => (await list()).map(({ id }) => id)).toEqual(Object.keys(podAddresses));
    }
  });

  test('operations that were posted to one are run by whichever polls them, and told of by each', async () => {
    const [first, , last] = replicas as [Replica, Replica, Replica];
    const names = Array.from({ length: 30 }, (_, index) => `spread-${index}`);
    const ids = await Promise.all(names.map((name) => deploy(first, name)));
    for (const id of ids) {
      const task = await last.waitForTask(id, { timeoutMs: 120_000 });
      expect(task.status.failed).toBe(false);
    }
    for (const name of names) expect(await isThere(name)).toBe(true);
    const writers = replicas.filter((each) => each.listWritten().some((name) => name.startsWith('spread-')));
    expect(writers.length).toBeGreaterThan(1);
    const written = replicas
      .flatMap((each) => each.listWritten())
      .filter((name) => name.startsWith('spread-'));
    expect(written.sort()).toEqual([...names].sort());
  });

  test('when one is killed in the midst of a deploy, another goes on with it', async () => {
    const { promise: held, resolve: tellHeld } = Promise.withResolvers<string>();
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    let isFirst = true;
    before = async (replica, { method, path }) => {
      if (!isFirst || method === 'GET' || !path.includes('/deployments')) return;
      isFirst = false;
      tellHeld(replica);
      await released;
      throw new Error('nobody waits for this any more');
    };
    const [first] = replicas as [Replica];
    const id = await deploy(first, 'taken-over');
    const victim = await held;
    const alive = replicas.filter(({ name }) => name !== victim);
    await replicas.find(({ name }) => name === victim)?.process.kill();
    release();

    const [survivor] = alive as [Replica];
    const task = await survivor.waitForTask(id, { timeoutMs: 240_000 });
    expect(task.status.failed).toBe(false);
    expect(await isThere('taken-over')).toBe(true);
    expect(alive.flatMap((each) => each.listWritten()).filter((name) => name === 'taken-over')).toHaveLength(
      1,
    );
  }, 400_000);

  test('one that is told to end takes nothing new, lets what it runs come to its end, and ends', async () => {
    const { promise: held, resolve: tellHeld } = Promise.withResolvers<string>();
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    let isFirst = true;
    before = async (replica, { method, path: target }) => {
      if (!isFirst || method === 'GET' || !target.includes('/deployments')) return;
      isFirst = false;
      tellHeld(replica);
      await released;
      // The proxy would pass on what nobody waits for.
      const { pid = 0 } = replicas.find(({ name }) => name === replica)?.process ?? {};
      if (!isAlive(pid)) throw new Error('the caller is gone');
    };
    const alive = replicas.filter(({ process: each }) => isAlive(each.pid));
    const [any] = alive as [Replica];
    const id = await deploy(any, 'finished');
    const name = await held;
    const leaving = alive.find((each) => each.name === name);
    const staying = alive.find((each) => each.name !== name);
    process.kill(leaving?.process.pid ?? 0, 'SIGTERM');
    // It says that it waits for what runs: one that ends at once says nothing.
    const log = join(engines.dir, `${name}.log`);
    await expect
      .poll(() => readFile(log, 'utf8'))
      .toContain('Stopping: running operations reach a safe point');
    await expect
      .poll(() =>
        fetch(`${leaving?.url}/health`).then(
          () => true,
          () => false,
        ),
      )
      .toBe(false);
    release();

    const task = await staying?.waitForTask(id, { timeoutMs: 240_000 });
    expect(task?.status.failed).toBe(false);
    expect(leaving?.listWritten()).toContain('finished');
    expect(staying?.listWritten()).not.toContain('finished');
    await vi.waitFor(() => expect(isAlive(leaving?.process.pid ?? 0)).toBe(false), { timeout: 60_000 });
  }, 400_000);
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
