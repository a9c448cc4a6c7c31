import { expect, test } from 'vitest';
import { getPath, type JsonObject } from '#core/json.ts';
import type { Manifest } from '#providers/kubernetes/api/manifest.ts';
import type { PassingCall } from '#test/support/cluster/api-proxy.ts';
import { startApiProxy } from '#test/support/cluster/api-proxy.ts';
import {
  createNamespace,
  describeWithCluster,
  requestApi,
  type TestCluster,
} from '#test/support/cluster/cluster.ts';
import { findLive, getPathOf, listNames } from '../../live.ts';
import { createConfigMap, createWorkload } from '../../manifests.ts';
import { getOperation, openProvider } from '../../provider-setup.ts';
import { CrashError, emptyRecord, listHistory, type OperationResult, runOperation } from '../task-run.ts';

/** By each way of deploying; `apply` is what no annotation asks for. */
const methods = ['apply', 'recreate', 'replace', 'server-side-apply'] as const;
type Method = (typeof methods)[number] | 'use-source-capacity';

const own = { own: '1' };
/** Holds all of ours, so that it could be taken for ours. */
const others = { own: '1', others: '2' };

describeWithCluster('a version whose number another deploy takes meanwhile', (cluster) => {
  test.each(methods)('by %s: the next one is made, and what mounts it is bound to that', async (method) => {
    await using ns = await createNamespace('taken');
    await using deploy = await startRival(cluster, { namespace: ns.name, method });
    await verify(ns.name, await deploy.run());
    expect(listHistory(deploy.record)).toContain(
      'configMap flags-v000 is there with other content, of another deploy: taking the next version',
    );
    expect(listHistory(deploy.record)).toContain(
      'Bound artifacts in replicaSet runner-v001: kubernetes/configMap flags-v001',
    );
  });

  test.each(methods)('by %s, before it is looked at: the other stays as it is', async (method) => {
    await using ns = await createNamespace('taken');
    await using deploy = await startRival(cluster, { namespace: ns.name, method, isDue: isLook });
    await verify(ns.name, await deploy.run());
  });

  test.each(methods)('by %s, and the worker dies before any call: there is no third', async (method) => {
    const run = async (deadlyCall: number): Promise<number> => {
      await using ns = await createNamespace('taken');
      await using deploy = await startRival(cluster, { namespace: ns.name, method, deadlyCall });
      if (deadlyCall > 0) await expect(deploy.run()).rejects.toBeInstanceOf(CrashError);
      await verify(ns.name, await deploy.run());
      verifyHistory(deploy.record);
      return deploy.countCalls();
    };
    const calls = await run(0);
    expect(calls).toBeGreaterThan(8);
    await Promise.all(Array.from({ length: calls }, (_, index) => run(index + 1)));
  });

  test.each(methods)(
    'by %s, and the worker dies in place of any commit: there is no third',
    async (method) => {
      const run = async (crashAtCommit: number): Promise<number> => {
        await using ns = await createNamespace('taken');
        await using deploy = await startRival(cluster, { namespace: ns.name, method });
        await expect(deploy.run({ crashAtCommit })).rejects.toBeInstanceOf(CrashError);
        await verify(ns.name, await deploy.run());
        verifyHistory(deploy.record);
        return deploy.record.commits;
      };
      const commits = await run(1);
      expect(commits).toBeGreaterThan(2);
      await Promise.all(Array.from({ length: commits - 1 }, (_, index) => run(index + 2)));
    },
  );

  test.each(methods)(
    'by %s, and is deleted before a repeat: the repeat goes by what was chosen',
    async (method) => {
      const start = async (crashAtCommit?: number) => {
        await using parts = new AsyncDisposableStack();
        const ns = parts.use(await createNamespace('taken'));
        const deploy = parts.use(await startRival(cluster, { namespace: ns.name, method }));
        const run = deploy.run(crashAtCommit === undefined ? {} : { crashAtCommit });
        if (crashAtCommit === undefined) await run;
        else await expect(run).rejects.toBeInstanceOf(CrashError);
        const held = parts.move();
        return { ns, deploy, [Symbol.asyncDispose]: () => held[Symbol.asyncDispose]() };
      };
      await using whole = await start();
      // In place of the last commit, after all was written.
      await using died = await start(whole.deploy.record.commits);
      const { ns, deploy } = died;
      await requestApi('DELETE', getPathOf(ns.name, 'configmaps/flags-v000'));
      await requestApi('DELETE', getPathOf(ns.name, 'replicasets/runner-v000'));
      await deploy.run();
      expect(await listNames(ns.name, 'configmaps')).toEqual(['flags-v001']);
      expect(await listNames(ns.name, 'replicasets')).toEqual(['runner-v001']);
    },
  );
});

describeWithCluster('a workload that keeps the replicas of what runs', (cluster) => {
  test('keeps them where another deploy takes its version meanwhile', async () => {
    await using ns = await createNamespace('taken');
    await using provider = openProvider([{ name: 'test', kubeconfigFile: cluster.kubeconfig }]);
    const first = createWorkload('ReplicaSet', 'runner', { namespace: ns.name, replicas: 2 });
    const description = { account: 'test', moniker: { app: 'shop' }, manifests: [first] };
    await runOperation(getOperation(provider, 'deployManifest'), description);
    await using deploy = await startRival(cluster, { namespace: ns.name, method: 'use-source-capacity' });
    const result = await deploy.run();
    expect(result.createdArtifacts.map((each) => getPath(each, 'reference'))).toEqual([
      'flags-v001',
      'runner-v002',
    ]);
    for (const version of ['v001', 'v002']) {
      expect(await findLive(ns.name, `replicasets/runner-${version}`)).toHaveProperty('spec.replicas', 2);
    }
  });
});

describeWithCluster('a version', (cluster) => {
  test.each(methods)('made by %s is known again where the answer was lost', async (method) => {
    await using ns = await createNamespace('taken');
    let cuts = 0;
    await using proxy = await startApiProxy(cluster, {
      cut: ({ written }) => written?.metadata.name === 'flags-v000' && cuts++ === 0,
    });
    await using provider = openProvider([{ name: 'test', kubeconfigFile: proxy.kubeconfig }]);
    await runOperation(getOperation(provider, 'deployManifest'), describe(ns.name, method, own));
    expect(cuts).toBeGreaterThan(0);
    expect(await listNames(ns.name, 'configmaps')).toEqual(['flags-v000']);
    expect(await listNames(ns.name, 'replicasets')).toEqual(['runner-v000']);
  });

  test.each(methods)('by %s leaves what has its name and is no version as it is', async (method) => {
    await using ns = await createNamespace('taken');
    const path = getPathOf(ns.name, 'configmaps');
    await requestApi('POST', path, createConfigMap('flags-v000', others, { namespace: ns.name }));
    await using provider = openProvider([{ name: 'test', kubeconfigFile: cluster.kubeconfig }]);
    await runOperation(getOperation(provider, 'deployManifest'), describe(ns.name, method, own));
    await verifyContents(ns.name);
  });

  test('of a name twice in one deploy is two versions', async () => {
    await using ns = await createNamespace('taken');
    await using provider = openProvider([{ name: 'test', kubeconfigFile: cluster.kubeconfig }]);
    const manifests = [others, own].map((data) => createConfigMap('flags', data, { namespace: ns.name }));
    const description = { account: 'test', moniker: { app: 'shop' }, manifests };
    await runOperation(getOperation(provider, 'deployManifest'), description);
    await verifyContents(ns.name);
  });
});

/** A deploy that another one gets ahead of. */
interface RivalledDeploy extends AsyncDisposable {
  readonly record: ReturnType<typeof emptyRecord>;
  run(options?: { readonly crashAtCommit?: number }): Promise<OperationResult>;
  countCalls(): number;
}

/**
 * A deploy of a ConfigMap and a ReplicaSet that mounts it. Just before its first write another one of the same names, with other
 * content, is done; or just before the first call that `isDue` says. At the call of a number, counted from 1, the worker dies.
 */
async function startRival(
  cluster: TestCluster,
  options: {
    readonly namespace: string;
    readonly method: Method;
    readonly deadlyCall?: number;
    isDue?(call: PassingCall): boolean;
  },
): Promise<RivalledDeploy> {
  const { namespace, method, deadlyCall = 0, isDue = isWrite } = options;
  await using parts = new AsyncDisposableStack();
  const rival = parts.use(openProvider([{ name: 'test', kubeconfigFile: cluster.kubeconfig }]));
  const worker = new AbortController();
  let calls = 0;
  let isDone = false;
  const proxy = parts.use(
    await startApiProxy(cluster, {
      refuse() {
        calls += 1;
        if (calls !== deadlyCall) return undefined;
        worker.abort(new CrashError());
        return 503;
      },
      async before(call) {
        if (isDone || !isDue(call)) return;
        isDone = true;
        await runOperation(getOperation(rival, 'deployManifest'), describe(namespace, method, others));
      },
    }),
  );
  const provider = parts.use(openProvider([{ name: 'test', kubeconfigFile: proxy.kubeconfig }]));
  const operation = getOperation(provider, 'deployManifest');
  const record = emptyRecord();
  let isFirst = true;
  const held = parts.move();
  return {
    record,
    run(how = {}) {
      const signal = isFirst ? worker.signal : undefined;
      isFirst = false;
      return runOperation(operation, describe(namespace, method, own), {
        record,
        ...how,
        ...(signal && { signal }),
      });
    },
    countCalls: () => calls,
    [Symbol.asyncDispose]: () => held[Symbol.asyncDispose](),
  };
}

function isWrite({ method }: PassingCall): boolean {
  return method !== 'GET';
}

/** The look at what is under the number that was chosen. */
function isLook({ path }: PassingCall): boolean {
  return path.endsWith('/flags-v000');
}

function describe(namespace: string, method: Method, data: JsonObject): JsonObject {
  const annotations = method === 'apply' ? {} : { [`strategy.spinnaker.io/${method}`]: 'true' };
  const manifests: Manifest[] = [
    createConfigMap('flags', data, { namespace, annotations }),
    createWorkload('ReplicaSet', 'runner', {
      namespace,
      replicas: 0,
      annotations,
      more: { volumes: [{ name: 'flags', configMap: { name: 'flags' } }] },
    }),
  ];
  return { account: 'test', moniker: { app: 'shop' }, manifests };
}

/** Each deploy has its own versions, and ours tells of ours. */
async function verify(namespace: string, result: OperationResult): Promise<void> {
  await verifyContents(namespace);
  expect(await listNames(namespace, 'replicasets')).toEqual(['runner-v000', 'runner-v001']);
  for (const version of ['v000', 'v001']) {
    expect(await findLive(namespace, `replicasets/runner-${version}`)).toMatchObject({
      spec: { template: { spec: { volumes: [{ configMap: { name: `flags-${version}` } }] } } },
    });
  }
  expect(result.createdArtifacts.map((each) => getPath(each, 'reference'))).toEqual([
    'flags-v001',
    'runner-v001',
  ]);
  expect(result.boundArtifacts.map((each) => getPath(each, 'reference'))).toEqual(['flags-v001']);
  expect(result.manifestNamesByNamespace).toEqual({
    [namespace]: ['configMap flags-v001', 'replicaSet runner-v001'],
  });
}

async function verifyContents(namespace: string): Promise<void> {
  expect(await listNames(namespace, 'configmaps')).toEqual(['flags-v000', 'flags-v001']);
  expect(await findLive(namespace, 'configmaps/flags-v000')).toHaveProperty('data', others);
  expect(await findLive(namespace, 'configmaps/flags-v001')).toHaveProperty('data', own);
}

/** No line is told twice, but for what was bound anew. */
function verifyHistory(record: RivalledDeploy['record']): void {
  const lines = listHistory(record);
  expect(lines).toEqual([...new Set(lines)]);
}
