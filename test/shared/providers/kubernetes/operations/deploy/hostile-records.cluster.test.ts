import { beforeAll, expect, test } from 'vitest';
import { getPath, type JsonObject } from '#core/json.ts';
import type { Manifest } from '#providers/kubernetes/api/manifest.ts';
import { startApiProxy } from '#test/support/cluster/api-proxy.ts';
import { createNamespace, describeWithCluster, type TestNamespace } from '#test/support/cluster/cluster.ts';
import { disposeAfterAll } from '#test/support/run/disposal.ts';
import { createLive, findLive, listNames } from '../../live.ts';
import { createHostile, hostileRecords } from '../../manifest/hostile-records.ts';
import { createConfigMap, createWorkload } from '../../manifests.ts';
import { getOperation, openProvider } from '../../provider-setup.ts';
import { type OperationResult, runOperation } from '../task-run.ts';

const limit = 'strategy.spinnaker.io/max-version-history';
const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration';

describeWithCluster('objects whose records are not to be believed', (cluster) => {
  const provider = openProvider([{ name: 'test', kubeconfigFile: cluster.kubeconfig }]);
  let ns: TestNamespace;
  let hostile: readonly string[];
  beforeAll(async () => {
    ns = await createNamespace('hostile');
    await plant(ns.name, 'configmaps', (name, annotations) =>
      createConfigMap(name, { content: 'sought' }, { annotations }),
    );
    await plant(ns.name, 'replicasets', (name, annotations) =>
      createWorkload('ReplicaSet', name, { replicas: 0, annotations }),
    );
    hostile = await listNames(ns.name, 'configmaps');
  });
  disposeAfterAll(() => [ns, provider]);

  function run(operation: string, description: JsonObject): Promise<OperationResult> {
    return runOperation(getOperation(provider, operation), { account: 'test', ...description });
  }

  function deploy(manifest: Manifest): Promise<OperationResult> {
    return run('deployManifest', { moniker: { app: 'shop' }, manifests: [manifest] });
  }

  test('are all there', () => {
    expect(hostile).toHaveLength(hostileRecords.length);
    expect(hostile.length).toBeGreaterThanOrEqual(40);
  });

  test('count for no number, are not used again, and outlive a clean-up', async () => {
    const flags = (content: string) => {
      const annotations = { [limit]: '1' };
      return createConfigMap('flags', { content }, { namespace: ns.name, annotations });
    };
    const results = [
      await deploy(flags('sought')),
      await deploy(flags('other')),
      await deploy(flags('sought')),
    ];
    expect(results.map(({ createdArtifacts: [made] }) => made?.['reference'])).toEqual([
      'flags-v000',
      'flags-v001',
      'flags-v000',
    ]);
    const { manifestNamesByNamespace } = await run('cleanupArtifacts', {
      manifests: [...(results[1]?.manifests ?? [])],
    });
    expect(manifestNamesByNamespace).toEqual({ [ns.name]: ['configMap flags-v000'] });
    expect(await listNames(ns.name, 'configmaps')).toEqual([...hostile, 'flags-v001'].sort());
  });

  test('have nothing deleted when they are cleaned up themselves', async () => {
    const before = await listNames(ns.name, 'configmaps');
    const manifests = await Promise.all(hostile.map((name) => findLive(ns.name, `configmaps/${name}`)));
    const limited = manifests.map((manifest) => ({
      ...manifest,
      metadata: {
        ...(manifest?.['metadata'] as JsonObject),
        annotations: { ...(getPath(manifest, 'metadata', 'annotations') as JsonObject), [limit]: '0' },
      },
    }));
    const { manifestNamesByNamespace } = await run('cleanupArtifacts', { manifests: limited });
    expect(manifestNamesByNamespace).toEqual({});
    expect(await listNames(ns.name, 'configmaps')).toEqual(before);
  });

  test('tell of no replicas that run', async () => {
    const annotations = { 'strategy.spinnaker.io/use-source-capacity': 'true' };
    const web = (replicas: number, how = {}) =>
      createWorkload('ReplicaSet', 'web', { namespace: ns.name, replicas, annotations: how });
    await deploy(web(1));
    const { createdArtifacts } = await deploy(web(0, annotations));
    expect(createdArtifacts).toMatchObject([{ reference: 'web-v001' }]);
    expect(await findLive(ns.name, 'replicasets/web-v001')).toHaveProperty('spec.replicas', 1);
  });
});

describeWithCluster('objects whose records are not to be believed, made while a deploy runs', (cluster) => {
  /** Those that have the very name of a version. */
  const rows = hostileRecords.filter(({ object }) => object === undefined);
  const names = rows.map((_row, index) => `flags-${String(index).padStart(2, '0')}`);

  test('keep their content and their metadata, though it is the content of the deploy', async () => {
    await using ns = await createNamespace('hostile');
    let isPlanted = false;
    await using proxy = await startApiProxy(cluster, {
      async before({ method }) {
        if (isPlanted || method === 'GET') return;
        isPlanted = true;
        for (const [index, row] of rows.entries()) {
          const name = names[index] ?? '';
          const like = createConfigMap(name, { name }, { annotations: { [lastApplied]: toRecord(name) } });
          const object = createHostile(row, { kind: 'configMap', name, number: 0 }, like);
          await createLive(ns.name, 'configmaps', object);
        }
      },
    });
    await using provider = openProvider([{ name: 'test', kubeconfigFile: proxy.kubeconfig }]);
    const manifests = names.map((name) => createConfigMap(name, { name }, { namespace: ns.name }));
    const { createdArtifacts } = await runOperation(getOperation(provider, 'deployManifest'), {
      ...{ account: 'test', moniker: { app: 'shop' }, manifests },
    });
    expect(createdArtifacts.map(({ reference }) => reference)).toEqual(names.map((name) => `${name}-v001`));
    for (const name of names) {
      const theirs = await findLive(ns.name, `configmaps/${name}-v000`);
      expect(getPath(theirs, 'metadata', 'labels'), name).toBeUndefined();
    }
  });
});

/** Makes the object of each row, with a number of its own. */
async function plant(
  namespace: string,
  plural: 'configmaps' | 'replicasets',
  create: (name: string, annotations: JsonObject) => Manifest,
): Promise<void> {
  const [kind, name] = plural === 'configmaps' ? ['configMap', 'flags'] : ['replicaSet', 'web'];
  for (const [index, row] of hostileRecords.entries()) {
    const of = { kind, name, number: 100 + index };
    const like = create(name, plural === 'configmaps' ? { [lastApplied]: toRecord(name, 'sought') } : {});
    await createLive(namespace, plural, createHostile(row, of, like));
  }
}

/** The record of an apply of a ConfigMap. */
function toRecord(name: string, content?: string): string {
  return JSON.stringify(createConfigMap(name, content === undefined ? { name } : { content }));
}
