import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { getPath, type JsonObject, type JsonValue } from '../../shared/core/json.ts';
import { writeConfig } from '../infra/local/start-files.ts';
import { findLive, listNames } from '../shared/providers/kubernetes/live.ts';
import { createNamespace, describeWithCluster, type TestNamespace } from '../support/cluster.ts';
import { type System, startSystem } from '../support/system.ts';
import { makeTempDir, type TempDir } from '../support/temp-dir.ts';

const image = 'registry.test/team/web:1.4';

describeWithCluster('views of a V1 account, beside a V2 account,', (cluster) => {
  let dir: TempDir;
  let shop: TestNamespace;
  let system: System;

  beforeAll(async () => {
    dir = await makeTempDir();
    shop = await createNamespace('v1-views');
    const accounts = [
      {
        name: 'old',
        providerVersion: 'v1',
        kubeconfigFile: cluster.kubeconfig,
        namespaces: [shop.name],
        serverGroupKind: 'ReplicationController',
        configureImagePullSecrets: false,
        dockerRegistries: [{ accountName: 'hub' }],
      },
      { name: 'new', kubeconfigFile: cluster.kubeconfig, namespaces: [shop.name] },
    ];
    const settings = { kubernetes: { accounts } };
    system = await startSystem({ config: [await writeConfig(dir, JSON.stringify(settings))] });
    // Until then nobody brings writes into the cache: the first list does.
    const check = async () => expect((await findAgent())?.['asOf']).toBeGreaterThan(0);
    await vi.waitFor(check, { timeout: 120_000, interval: 250 });
  }, 300_000);

  afterAll(async () => {
    for (const each of [system, dir, shop]) await each?.[Symbol.asyncDispose]();
  });

  const getJson = async <T = JsonValue>(path: string): Promise<T> => {
    const response = await system.fetch(path);
    const text = await response.text();
    expect([response.status, text]).toEqual([200, expect.anything()]);
    return JSON.parse(text) as T;
  };

  const findAgent = async () =>
    (await getJson<JsonObject[]>('/cache/introspection')).find(
      ({ id }) => id === 'old/KubernetesV1CachingAgent[1/1]',
    );

  const run = async (operation: string, description: JsonObject) => {
    const id = await system.postOperations([
      { [operation]: { account: 'old', namespace: shop.name, ...description } },
    ]);
    const task = await system.waitForTask(id);
    expect(task.status).toMatchObject({ completed: true, failed: false });
    return task;
  };

  const containers = [{ name: 'web', imageDescription: { uri: image } }];

  it('show a server group as soon as the operation that made it has ended', async () => {
    await run('createServerGroup', {
      ...{ application: 'kub', stack: 'test', targetSize: 2, containers },
      loadBalancers: ['kub-web'],
    });
    const live = await findLive(shop.name, 'replicationcontrollers/kub-test-v000');
    const [found, ...others] = await getJson<JsonObject[]>('/applications/kub/serverGroups');
    expect(others).toEqual([]);
    expect(found).toMatchObject({
      name: 'kub-test-v000',
      account: 'old',
      type: 'kubernetes',
      cloudProvider: 'kubernetes',
      region: shop.name,
      cluster: 'kub-test',
      moniker: { app: 'kub', cluster: 'kub-test', stack: 'test', sequence: 0 },
      createdTime: Date.parse(String(getPath(live, 'metadata', 'creationTimestamp'))),
      capacity: { min: 2, max: 2, desired: 2 },
      isDisabled: false,
      labels: { 'replication-controller': 'kub-test-v000', 'load-balancer-kub-web': 'true' },
      loadBalancers: ['kub-web'],
      securityGroups: [],
      buildInfo: { images: ['team/web:1.4'] },
    });
    expect(await getJson('/applications/kub/clusters')).toEqual({ old: ['kub-test'] });
    const applications = await getJson<JsonObject[]>('/applications');
    expect(applications.find(({ name }) => name === 'kub')?.['clusterNames']).toEqual({ old: ['kub-test'] });
  }, 120_000);

  it('show its pods by their names, as they fare', async () => {
    const isThere = async () => (await listNames(shop.name, 'pods')).length;
    await expect.poll(isThere, { timeout: 60_000 }).toBe(2);
    const names = await listNames(shop.name, 'pods');
    const readInstances = async () => {
      const [serverGroup] = await getJson<JsonObject[]>('/applications/kub/serverGroups');
      const instances = serverGroup?.['instances'] as JsonObject[];
      return instances
        .map(({ id, zone }) => ({ id, zone }))
        .sort((a, b) => (String(a.id) < String(b.id) ? -1 : 1));
    };
    const expected = names.map((id) => ({ id, zone: shop.name }));
    await expect.poll(readInstances, { timeout: 60_000 }).toEqual(expected);
  }, 120_000);
});
