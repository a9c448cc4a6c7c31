import { beforeAll, expect, test } from 'vitest';
import { type AccountBounds, OutOfBoundsError } from '#providers/kubernetes/account/account-bounds.ts';
import { boundToAccount } from '#providers/kubernetes/account/bounded-client.ts';
import type { ApiResource, KubernetesClient } from '#providers/kubernetes/api/client.ts';
import { createNamespace, describeWithCluster, type TestNamespace } from '#test/support/cluster/cluster.ts';
import { disposeAfterAll } from '#test/support/run/disposal.ts';
import { createTestClient } from '../client/client-setup.ts';
import { findLive } from '../live.ts';
import { createConfigMap } from '../manifests.ts';

const open: AccountBounds = { namespaces: [], omitNamespaces: [], clusterScopedKinds: true };

describeWithCluster('a client bound to an account', (cluster) => {
  let own: TestNamespace;
  let vault: TestNamespace;
  let client: KubernetesClient;
  let bound: KubernetesClient;
  let configMaps: ApiResource;

  beforeAll(async () => {
    own = await createNamespace('own');
    vault = await createNamespace('vault');
    client = createTestClient({ kubeconfigFile: cluster.kubeconfig });
    bound = boundToAccount(client, { ...open, namespaces: [own.name, 'other'] });
    configMaps = await client.getResource('v1', 'ConfigMap');
    await client.create(configMaps, createConfigMap('planted', { a: '1' }, { namespace: vault.name }));
  });
  disposeAfterAll(() => [client, own, vault]);

  test('is the client itself where the account is bound to nothing', () => {
    expect(boundToAccount(client, open)).toBe(client);
  });

  test('fills in the namespace in every call', async () => {
    const ref = { resource: configMaps, name: 'filled' };
    const manifest = createConfigMap('filled', { a: '1' });
    expect(await bound.getDefaultNamespace()).toBe(own.name);
    expect(await bound.create(configMaps, manifest)).toHaveProperty('metadata.namespace', own.name);
    expect(await bound.get(ref)).toHaveProperty('metadata.namespace', own.name);
    await bound.replace(configMaps, { ...manifest, data: { a: '2' } });
    await bound.patch(ref, { type: 'merge', body: { data: { b: '3' } } });
    expect(await findLive(own.name, 'configmaps/filled')).toMatchObject({ data: { a: '2', b: '3' } });
    const listed = await bound.list({ resource: configMaps });
    expect(new Set(listed.map(({ metadata }) => (metadata as { namespace: string }).namespace))).toEqual(
      new Set([own.name]),
    );
    await bound.delete(ref);
    expect(await findLive(own.name, 'configmaps/filled')).toBeUndefined();
  });

  test('refuses every call that leads elsewhere', async () => {
    const namespace = vault.name;
    const ref = { resource: configMaps, namespace, name: 'planted' };
    const manifest = createConfigMap('planted', {}, { namespace });
    const path = `/api/v1/namespaces/${namespace}`;
    const calls: readonly (() => Promise<unknown>)[] = [
      () => bound.get(ref),
      () => bound.list({ resource: configMaps, namespace }),
      () => bound.create(configMaps, { ...manifest, metadata: { name: 'another', namespace } }),
      () => bound.replace(configMaps, manifest),
      () => bound.patch(ref, { type: 'merge', body: { data: { a: '2' } } }),
      () => bound.delete(ref),
      () => bound.getText(`${path}/pods/web/log`),
      () => bound.getJson(`${path}/configmaps/planted`),
      () => bound.getJson(`/api/v1/namespaces/%76${namespace.slice(1)}/configmaps/planted`),
      () => bound.getJson(`/apis/metrics.k8s.io/v1beta1/namespaces/${namespace}/pods/web`),
      () => bound.getJson(`/api/v1/namespaces/${own.name}/../${namespace}/configmaps/planted`),
      () => bound.getJson(`/api/v1/namespaces/${own.name}/%2e%2e/${namespace}/configmaps/planted`),
      () => bound.getJson(`/api/v1/namespaces/${own.name}%2F..%2F${namespace}/configmaps/planted`),
      () => bound.getJson(`/api/v1/namespaces/${own.name}`),
      () => bound.getJson('/api/v1/configmaps'),
      () => bound.getJson(`/api/v1/watch/namespaces/${namespace}/configmaps`),
      () => bound.getJson('/version'),
    ];
    for (const call of calls) await expect(call()).rejects.toThrow(OutOfBoundsError);
    expect(await findLive(namespace, 'configmaps/planted')).toMatchObject({ data: { a: '1' } });
    expect(await findLive(namespace, 'configmaps/another')).toBeUndefined();
    const inside = `/api/v1/namespaces/${own.name}/configmaps/kube-root-ca.crt`;
    expect(await bound.getJson(inside)).toHaveProperty('kind', 'ConfigMap');
  });

  test('sees the namespaces of the account alone, and no kind that lives in none where that is closed', async () => {
    const resource = await bound.getResourceOfKind('namespace');
    const listed = await bound.list({ resource, metadataOnly: true });
    expect(listed.map(({ metadata }) => (metadata as { name: string }).name)).toEqual([own.name]);
    await expect(bound.delete({ resource, name: vault.name })).rejects.toThrow(OutOfBoundsError);
    const closed = boundToAccount(client, { ...open, clusterScopedKinds: false });
    const calls: readonly (() => Promise<unknown>)[] = [
      () => closed.getResource('v1', 'Namespace'),
      () => closed.getResourceOfKind('clusterRole'),
      () => closed.get({ resource, name: own.name }),
      () => closed.list({ resource }),
    ];
    for (const call of calls) {
      await expect(call()).rejects.toThrow('namespace-scoped account not allowed to access cluster-scoped');
    }
    expect(await closed.get({ resource: configMaps, namespace: vault.name, name: 'planted' })).toBeDefined();
  });
});
