import { expect, test } from 'vitest';
import type { JsonObject } from '../../../../../shared/core/json.ts';
import type { Logger } from '../../../../../shared/core/logger.ts';
import type { Provider } from '../../../../../shared/core/provider.ts';
import type { ApplicationClusters } from '../../../../../shared/core/views.ts';
import { startApiProxy } from '../../../../support/api-proxy.ts';
import { createNamespace, describeWithCluster, requestApi } from '../../../../support/cluster.ts';
import { getPathOf } from '../live.ts';
import { createConfigMap, createWorkload } from '../manifests.ts';
import { openProvider } from '../provider-setup.ts';

const never = new AbortController().signal;

describeWithCluster('listing applications', (cluster) => {
  /** An account that sees one namespace. */
  function account(name: string, namespace: string, more: JsonObject = {}): JsonObject {
    return { name, kubeconfigFile: cluster.kubeconfig, namespaces: [namespace], ...more };
  }

  test('clusters of server groups and what manages them, by annotations, else by name', async () => {
    await using ns = await createNamespace();
    const annotations = {
      'moniker.spinnaker.io/application': 'shop',
      'moniker.spinnaker.io/cluster': 'deployment web',
    };
    const post = (plural: string, body: unknown) => requestApi('POST', getPathOf(ns.name, plural), body);
    await post('deployments', createWorkload('Deployment', 'web', { annotations, replicas: 0 }));
    await post('replicasets', createWorkload('ReplicaSet', 'cart-v003', { replicas: 0 }));
    await post('configmaps', createConfigMap('other-config', {}));
    await using all = openProvider([account('all', ns.name)]);
    expect(await list(all)).toEqual([
      { application: 'cart', account: 'all', clusters: ['cart'] },
      { application: 'shop', account: 'all', clusters: ['deployment web'] },
    ]);
    await using managed = openProvider([account('managed', ns.name, { onlySpinnakerManaged: true })]);
    expect((await list(managed)).map(({ application }) => application)).toEqual(['shop']);
    await using some = openProvider([account('some', ns.name, { omitKinds: ['deployment', 'rs'] })]);
    expect(await list(some)).toEqual([]);
  });

  test('an account that cannot be read is left out, and logged', async () => {
    await using ns = await createNamespace();
    const deployment = createWorkload('Deployment', 'web', { replicas: 0 });
    await requestApi('POST', getPathOf(ns.name, 'deployments'), deployment);
    const warnings: unknown[] = [];
    const log: Logger = {
      debug() {},
      info() {},
      warn: (_message, fields) => warnings.push(fields),
      error() {},
    };
    const broken = { name: 'broken', kubeconfigContents: '{}' };
    await using provider = openProvider([broken, account('fine', ns.name)], { log });
    expect(await list(provider)).toMatchObject([{ application: 'web', account: 'fine' }]);
    expect(warnings).toMatchObject([{ account: 'broken' }]);
  });

  test('an answer is used again for 30 seconds', async () => {
    await using ns = await createNamespace();
    await using proxy = await startApiProxy(cluster);
    let nowMs = 0;
    const through = account('test', ns.name, { kubeconfigFile: proxy.kubeconfig });
    await using provider = openProvider([through], { clock: { monotonic: () => nowMs } });
    await list(provider);
    const calls = proxy.calls.length;
    expect(calls).toBeGreaterThan(0);
    nowMs = 29_999;
    await list(provider);
    expect(proxy.calls).toHaveLength(calls);
    nowMs = 30_000;
    await list(provider);
    expect(proxy.calls).toHaveLength(2 * calls);
  });
});

async function list(provider: Provider): Promise<ApplicationClusters[]> {
  const found = (await provider.listApplications?.(never)) ?? [];
  return found.toSorted((one, other) => one.application.localeCompare(other.application));
}
