import { afterAll, expect, test } from 'vitest';
import type { JsonObject } from '#core/json.ts';
import { createNamespace, describeWithCluster } from '#test/support/cluster/cluster.ts';
import { listNames } from '../live.ts';
import { createConfigMap } from '../manifests.ts';
import { getOperation, openProvider } from '../provider-setup.ts';
import { type OperationResult, runOperation } from './task-run.ts';

const limit = 'strategy.spinnaker.io/max-version-history';

describeWithCluster('cleanupArtifacts', (cluster) => {
  const provider = openProvider([{ name: 'test', kubeconfigFile: cluster.kubeconfig }]);
  afterAll(() => provider[Symbol.asyncDispose]());
  const deploy = getOperation(provider, 'deployManifest');
  const cleanup = getOperation(provider, 'cleanupArtifacts');

  /** Deploys versions of one ConfigMap, and answers the last as a task's result holds it. */
  async function deployVersions(
    namespace: string,
    count: number,
    annotations: JsonObject,
  ): Promise<JsonObject> {
    let deployed: JsonObject = {};
    for (let version = 0; version < count; version += 1) {
      const manifest = createConfigMap('flags', { version: `${version}` }, { namespace, annotations });
      const description = { account: 'test', moniker: { app: 'shop' }, manifests: [manifest] };
      const result = await runOperation(deploy, description);
      deployed = result.manifests[0] ?? {};
    }
    return deployed;
  }

  function clean(manifests: readonly JsonObject[]): Promise<OperationResult> {
    return runOperation(cleanup, { account: 'test', manifests: [...manifests] });
  }

  async function listVersions(namespace: string): Promise<string[]> {
    return (await listNames(namespace, 'configmaps')).filter((name) => name.startsWith('flags')).sort();
  }

  test('deletes the oldest versions beyond the limit', async () => {
    await using ns = await createNamespace();
    const deployed = await deployVersions(ns.name, 4, { [limit]: '2' });
    const result = await clean([deployed]);
    expect(await listVersions(ns.name)).toEqual(['flags-v002', 'flags-v003']);
    expect(result.manifestNamesByNamespace).toEqual({
      [ns.name]: ['configMap flags-v000', 'configMap flags-v001'],
    });
    expect(await clean([deployed])).toMatchObject({ manifestNamesByNamespace: {} });
  });

  test('deletes nothing without a limit, or with one that is not reached or no number', async () => {
    await using ns = await createNamespace();
    const unlimited = await deployVersions(ns.name, 3, {});
    const roomy = await deployVersions(ns.name, 1, { [limit]: '9' });
    const odd = await deployVersions(ns.name, 1, { [limit]: 'two' });
    const result = await clean([unlimited, roomy, odd, createConfigMap('plain', {}, { namespace: ns.name })]);
    expect(result.manifestNamesByNamespace).toEqual({});
    expect((await listVersions(ns.name)).length).toBeGreaterThanOrEqual(3);
  });
});
