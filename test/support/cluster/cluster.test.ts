import { expect, test } from 'vitest';
import { createNamespace, describeWithCluster, findObject, kubectl, requestApi } from './cluster.ts';

describeWithCluster('the shared cluster', (cluster) => {
  test('kubectl and the API server are of the same Kubernetes version', async () => {
    const versions = JSON.parse(await kubectl(['version', '--output', 'json']));
    expect(versions.clientVersion.gitVersion).toBe('v1.36.3');
    expect(versions.serverVersion.gitVersion).toBe('v1.36.3');
  });

  test('a new namespace takes a Pod at once, and goes away on disposal', async () => {
    const target = await useNamespace();
    await expect.poll(() => findObject(target), { timeout: 30_000, interval: 100 }).toBeUndefined();
  });

  test('kubectl reads stdin, and fails with what it wrote to stderr', async () => {
    await using namespace = await createNamespace();
    const manifest = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data: { key: 'value' } };
    await kubectl(['--namespace', namespace.name, 'apply', '--filename', '-'], {
      stdin: JSON.stringify(manifest),
    });
    const target = `/api/v1/namespaces/${namespace.name}/configmaps`;
    expect(await findObject(`${target}/a`)).toMatchObject({ data: { key: 'value' } });
    await expect(kubectl(['--namespace', namespace.name, 'get', 'configmap', 'b'])).rejects.toThrow(
      /kubectl .* get configmap b \(exit code 1\): .*configmaps "b" not found/,
    );
    await expect(requestApi('POST', target, { ...manifest, metadata: { name: 'A' } })).rejects.toMatchObject({
      status: 422,
    });
  });

  test('its kubeconfig names its server', async () => {
    const view = ['config', 'view', '--output', 'jsonpath={.clusters[0].cluster.server}'];
    expect(await kubectl(view)).toBe(cluster.server);
  });
});

async function useNamespace(): Promise<string> {
  await using namespace = await createNamespace('short-lived');
  const target = `/api/v1/namespaces/${namespace.name}`;
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'one' },
    spec: { containers: [{ name: 'one', image: 'nginx' }] },
  };
  await requestApi('POST', `${target}/pods`, pod);
  return target;
}
