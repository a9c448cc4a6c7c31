import { expect, test } from 'vitest';
import type { JsonObject } from '#core/json.ts';
import { type ApiProxyOptions, type ProxiedCall, startApiProxy } from '#test/support/cluster/api-proxy.ts';
import {
  createNamespace,
  describeWithCluster,
  requestApi,
  type TestNamespace,
} from '#test/support/cluster/cluster.ts';
import { createLive, findLive, getPathOf } from '../live.ts';
import { createConfigMap } from '../manifests.ts';
import { getOperation, openProvider } from '../provider-setup.ts';
import { CrashError, emptyRecord, listHistory, type RunOptions, runOperation } from './task-run.ts';

/** Adds a finalizer each time it is sent: what a JSON patch can do, and must do once. */
const operations = [{ op: 'add', path: '/metadata/finalizers/-', value: 'busdriver.test/added' }];
const added = ['busdriver.test/first', 'busdriver.test/added'];

describeWithCluster('a JSON patch', (cluster) => {
  test('takes effect once when the worker dies before it noted that', async () => {
    await using trial = await arrange();
    const record = emptyRecord();
    await expect(trial.run({ record, crashAtCommit: 2 })).rejects.toBeInstanceOf(CrashError);
    expect(await trial.readFinalizers()).toEqual(added);
    await trial.run({ record });
    expect(await trial.readFinalizers()).toEqual(added);
    expect(listHistory(record)).toHaveLength(3);
  });

  test('takes effect when the worker dies before it sent it, whatever else changes meanwhile', async () => {
    const worker = new AbortController();
    await using trial = await arrange({
      refuse({ method }) {
        if (method !== 'PATCH' || worker.signal.aborted) return undefined;
        worker.abort(new CrashError());
        return 503;
      },
    });
    const record = emptyRecord();
    await expect(trial.run({ record, signal: worker.signal })).rejects.toBeInstanceOf(CrashError);
    await trial.change({ data: { a: '2' } });
    await trial.run({ record });
    expect(await trial.readFinalizers()).toEqual(added);
  });

  test('takes effect once when its answer is lost', async () => {
    let isCut = false;
    await using trial = await arrange({
      cut({ method }) {
        const isFirst = method === 'PATCH' && !isCut;
        isCut ||= isFirst;
        return isFirst;
      },
    });
    await trial.run();
    expect(await trial.readFinalizers()).toEqual(added);
  });

  test('is sent again when somebody else changed the object at the same moment', async () => {
    let changes = 0;
    await using trial = await arrange({
      async before({ method }) {
        if (method !== 'PATCH' || changes === 2) return;
        changes += 1;
        await trial.change({
          metadata: { finalizers: ['busdriver.test/first', `busdriver.test/${changes}`] },
        });
      },
    });
    await trial.run();
    expect(await trial.readFinalizers()).toEqual([
      'busdriver.test/first',
      'busdriver.test/2',
      'busdriver.test/added',
    ]);
    expect(listStatuses(trial.calls)).toEqual([409, 409, 200]);
  });

  test('is given up when others never stop', async () => {
    let changes = 0;
    await using trial = await arrange({
      async before({ method }) {
        if (method !== 'PATCH') return;
        changes += 1;
        await trial.change({ data: { a: `other ${changes}` } });
      },
    });
    await expect(trial.run()).rejects.toThrow('others kept changing it; try again when they are done');
    expect(listStatuses(trial.calls)).toEqual(Array.from({ length: 6 }, () => 409));
  });

  test('fails when nobody can tell whether it took effect', async () => {
    await using trial = await arrange();
    const record = emptyRecord();
    await expect(trial.run({ record, crashAtCommit: 2 })).rejects.toBeInstanceOf(CrashError);
    await trial.change({ metadata: { finalizers: ['busdriver.test/other'] } });
    await expect(trial.run({ record })).rejects.toThrow(
      `Patching configMap flags in namespace ${trial.namespace} failed: somebody else changed the same places`,
    );
    expect(await trial.readFinalizers()).toEqual(['busdriver.test/other']);
  });

  interface Trial extends AsyncDisposable {
    readonly namespace: string;
    readonly calls: readonly ProxiedCall[];
    run(options?: RunOptions): Promise<unknown>;
    change(body: JsonObject): Promise<void>;
    readFinalizers(): Promise<unknown>;
  }

  /** A ConfigMap that is patched through a proxy. */
  async function arrange(options: ApiProxyOptions = {}): Promise<Trial> {
    const resources = new AsyncDisposableStack();
    const ns: TestNamespace = resources.use(await createNamespace('once'));
    const flags = createConfigMap('flags', { a: '1' });
    const metadata = { ...(flags.metadata as JsonObject), finalizers: ['busdriver.test/first'] };
    await createLive(ns.name, 'configmaps', { ...flags, metadata });
    const change = async (body: JsonObject) => {
      await requestApi('PATCH', getPathOf(ns.name, 'configmaps/flags'), body);
    };
    resources.defer(() => change({ metadata: { finalizers: null } }));
    const proxy = resources.use(await startApiProxy(cluster, options));
    const provider = resources.use(openProvider([{ name: 'test', kubeconfigFile: proxy.kubeconfig }]));
    const description = {
      account: 'test',
      manifestName: 'configMap flags',
      location: ns.name,
      patchBody: operations,
      options: { mergeStrategy: 'json' },
    };
    return {
      namespace: ns.name,
      calls: proxy.calls,
      run: (runOptions) => runOperation(getOperation(provider, 'patchManifest'), description, runOptions),
      change,
      async readFinalizers() {
        const { metadata: live } = (await findLive(ns.name, 'configmaps/flags')) ?? {};
        return (live as JsonObject)['finalizers'];
      },
      [Symbol.asyncDispose]: () => resources.disposeAsync(),
    };
  }
});

function listStatuses(calls: readonly ProxiedCall[]): number[] {
  return calls.filter(({ method }) => method === 'PATCH').map(({ status }) => status);
}
