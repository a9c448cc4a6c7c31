import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { createNamespace, describeWithCluster } from '#test/support/cluster/cluster.ts';
import { scanTasks } from '#test/support/engines/stores.ts';
import { startTokenBroker } from '#test/support/services/token-broker.ts';
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
    const metadata = { name: 'web', annotations: { 'strategy.spinnaker.io/versioned': 'false' } };
    const manifest = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { a: 'b' } };
    const context = { manifests: [manifest], namespaceOverride: namespace.name, moniker: { app: 'web' } };
    const deploy = async (account: string) => {
      const operation = { deployManifest: { ...context, account, source: 'text' } };
      const id = await system.postOperations([operation]);
      return system.waitForTask(id);
    };

    const task = await deploy('one');
    const read = await system.fetch(`/manifests/two/${namespace.name}/configMap%20web`);
    const failed = await deploy('unknown-provider');
    await system.idle();

    expect(task.status).toMatchObject({ completed: true, failed: false });
    expect(await read.json()).toMatchObject({ manifest: { data: { a: 'b' } } });
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
