import { expect, vi } from 'vitest';
import type { JsonObject, JsonValue } from '#core/json.ts';
import { createNamespace, type TestCluster, type TestNamespace } from '#test/support/cluster/cluster.ts';
import { type System, type SystemTask, startSystem } from '#test/support/system/system.ts';

/** A system with the V1 account `old`, in its namespace, and the V2 account `new`, in another one. Both are cached. */
export interface V1World extends AsyncDisposable {
  readonly system: System;
  readonly old: TestNamespace;
  readonly modern: TestNamespace;
  /** What a path answers with 200, with everything that is so now. */
  getJson<T = JsonValue>(path: string): Promise<T>;
  findAgent(): Promise<JsonObject | undefined>;
  run(operation: string, description: JsonObject): Promise<SystemTask>;
}

export async function startV1World(cluster: TestCluster): Promise<V1World> {
  const old = await createNamespace('v1-views');
  const modern = await createNamespace('v2-views');
  const { kubeconfig: kubeconfigFile } = cluster;
  const v1 = {
    name: 'old',
    providerVersion: 'v1',
    kubeconfigFile,
    namespaces: [old.name],
    serverGroupKind: 'ReplicationController',
    configureImagePullSecrets: false,
    dockerRegistries: [{ accountName: 'hub' }],
  };
  const accounts = [v1, { name: 'new', kubeconfigFile, namespaces: [modern.name] }];
  const system = await startSystem({ settings: { kubernetes: { accounts } } });
  const getJson: V1World['getJson'] = async (path) => {
    const response = await system.fetch(path, { headers: { 'Cache-Control': 'no-cache' } });
    const text = await response.text();
    expect([response.status, text]).toEqual([200, expect.anything()]);
    return JSON.parse(text);
  };
  const findAgent: V1World['findAgent'] = async () => {
    const agents = await getJson<JsonObject[]>('/cache/introspection');
    return agents.find(({ id }) => id === 'old/KubernetesV1CachingAgent[1/1]');
  };
  // Until then nobody brings writes into the cache: the first list does.
  const check = async () => expect((await findAgent())?.['asOf']).toBeGreaterThan(0);
  await vi.waitFor(check, { timeout: 120_000, interval: 250 });
  return {
    system,
    old,
    modern,
    getJson,
    findAgent,
    async run(operation, description) {
      const body = { account: 'old', namespace: old.name, ...description };
      const task = await system.waitForTask(await system.postOperations([{ [operation]: body }]));
      expect(task.status).toMatchObject({ completed: true, failed: false });
      return task;
    },
    async [Symbol.asyncDispose]() {
      for (const each of [system, old, modern]) await each[Symbol.asyncDispose]();
    },
  };
}
