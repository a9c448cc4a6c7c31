import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { createNamespace, describeWithCluster } from '#test/support/cluster/cluster.ts';
import { scanTasks } from '#test/support/engines/stores.ts';
import { startTokenBroker } from '#test/support/services/token-broker.ts';
import { toDeploy } from '#test/support/system/config-map-deploy.ts';
import { startSystem } from '#test/support/system/system.ts';

describeWithCluster('accounts with a token broker', (cluster) => {
  it('deploy and read with its tokens, which are seen nowhere, beside one that its broker refuses', async () => {
    await using namespace = await createNamespace('broker');
    await using broker = await startTokenBroker(() => cluster.token);
    const key = 'planted-api-key-4711';
    broker.apiKey = key;
    const server = { host: cluster.server, caData: (await readFile(cluster.caFile)).toString('base64') };
    const accounts = [
      { name: 'one', server, namespaces: [namespace.name], clusterScopedKinds: false },
      { name: 'two', server, namespaces: [namespace.name], clusterScopedKinds: false },
      { name: 'unknown-provider', server: { ...server, tokenProvider: 'unheard' } },
    ];
    const settings = { kubernetes: { accounts }, busdriver: { authorization: { reads: 'off' } } };
    await using system = await startSystem({
      settings,
      env: { ARCADE_URL: broker.url, ARCADE_API_KEY: key },
    });
    const deploy = async (account: string) =>
      system.waitForTask(await system.postOperations([toDeploy(account, namespace.name, ['web'])]));

    const task = await deploy('one');
    const read = await system.fetch(`/manifests/two/${namespace.name}/configMap%20web`);
    const failed = await deploy('unknown-provider');
    await system.idle();

    expect(task.status).toMatchObject({ completed: true, failed: false });
    expect(await read.json()).toMatchObject({ manifest: { data: { by: 'one' } } });
    expect(JSON.stringify(failed)).toContain('token broker \\"arcade\\" answers 400');
    const { tasksTable: _, ...stores } = system.stores;
    const tables = await Promise.all(
      ['tasks', 'cache'].map((name) => scanTasks({ ...stores, tasksTable: name })),
    );
    const places = [await system.readLog(), JSON.stringify(await system.readEvents()), ...tables];
    expect(places.map((text) => text.includes(cluster.token) || text.includes(key))).toEqual([
      false,
      false,
      false,
      false,
    ]);
  });
});
