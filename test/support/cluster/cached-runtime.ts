import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DynamoCachingAgentStore } from '#caching/aws/agents/caching-agent-store.ts';
import { createCacheStore } from '#caching/aws/store/cache-store.ts';
import type { CacheStore } from '#caching/store/cache-store.ts';
import { routes } from '#functions/routes.ts';
import { startRuntime } from '#infra/local/runtime.ts';
import { cacheTable, tables } from '#platform/aws/tables.ts';
import { setEnvironment, variables } from '#platform/config.ts';
import { systemClock, systemRandomness } from '#platform/services/system.ts';
import { plugins } from '#providers/index.ts';
import { makeTempDir } from '../run/temp-dir.ts';
import { checkResponse } from '../system/validate-answer.ts';

/** Every route over a cache that a test fills: no queue is worked on, and no cluster can be reached. */
export interface CachedRuntime extends AsyncDisposable {
  readonly cache: CacheStore;
  readonly agents: DynamoCachingAgentStore;
  /** Gets a path, and holds the answer to the OpenAPI document. */
  get(path: string, headers?: { readonly [name: string]: string }): Promise<Response>;
}

/** Starts every route in this process. @param accounts names of Kubernetes accounts. */
export async function startCachedRuntime(accounts: readonly string[]): Promise<CachedRuntime> {
  await using starting = new AsyncDisposableStack();
  const dir = starting.use(await makeTempDir());
  const file = join(dir.path, 'clouddriver.yml');
  await writeFile(file, JSON.stringify(toConfiguration(accounts)));
  setEnvironment({ [variables.operationsQueueUrl]: 'none', [variables.agentsQueueUrl]: 'none' });
  const runtime = starting.use(
    await startRuntime({
      ...{ host: '127.0.0.1', port: 0, allowedHosts: [], shutdownTimeoutMs: 1_000, logLevel: 'ERROR' },
      ...{ dataDir: join(dir.path, 'data'), configFiles: [file], profiles: [], kubeconfig: undefined },
      inventory: { routes, queues: [], schedules: [], tables },
    }),
  );
  const documents = runtime.engines.clients.dynamodb;
  const parts = { documents, tableName: cacheTable.name, clock: systemClock, randomness: systemRandomness };
  const codecs = Object.assign({}, ...plugins.map(({ rowCodecs }) => rowCodecs));
  const resources = starting.move();
  return {
    cache: createCacheStore({ ...parts, codecs }),
    agents: new DynamoCachingAgentStore(parts),
    get: async (path, headers = {}) => checkResponse(await fetch(new URL(path, runtime.url), { headers })),
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

/** Accounts whose cluster nobody runs. */
function toConfiguration(accounts: readonly string[]): object {
  const kubeconfigContents = JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'c', cluster: { server: 'https://127.0.0.1:1' } }],
    users: [{ name: 'u', user: { token: 'none' } }],
    contexts: [{ name: 'none', context: { cluster: 'c', user: 'u' } }],
  });
  return {
    kubernetes: {
      enabled: true,
      accounts: accounts.map((name) => ({ name, context: 'none', kubeconfigContents })),
    },
  };
}
