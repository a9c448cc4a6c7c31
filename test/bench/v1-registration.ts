import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { createCacheStore } from '#caching/aws/store/cache-store.ts';
import { mapConcurrently } from '#core/concurrency.ts';
import { cacheTable, tables } from '#platform/aws/tables.ts';
import { systemClock, systemRandomness } from '#platform/services/system.ts';
import { openRegistration } from '#test/shared/providers/kubernetes/v1/caching/registration-setup.ts';
import { startApiProxy } from '#test/support/cluster/api-proxy.ts';
import { startDynamoDb } from '#test/support/engines/engine-servers.ts';
import { localClientOptions } from '#test/support/engines/local-aws-client.ts';
import { makeTempDir } from '#test/support/run/temp-dir.ts';
import { deleteNamespace, makeNamespace } from './bench-world.ts';
import type { ClusterAccess, ClusterClient } from './cluster-access.ts';
import type { RowResult } from './rows.ts';
import { summarize } from './statistics.ts';

export interface RegistrationOptions {
  readonly cluster: ClusterAccess;
  readonly server: string;
  readonly namespaces: number;
  /** A word of lower-case letters and digits that no run on this control plane had before. */
  readonly run: string;
  tell(line: string): void;
}

/** Runs that are measured, and those before. */
const runs = { warmUp: 5, samples: 10 };
const makersMax = 8;
const microsecondsPerMs = 1_000;

/**
 * What a registration run costs after which nothing has changed: processor time, and calls of the API server. It runs in this
 * process, which does nothing else meanwhile.
 */
export async function measureRegistration(
  { cluster, server, namespaces, run, tell }: RegistrationOptions,
  client: ClusterClient,
): Promise<RowResult[]> {
  const names = Array.from({ length: namespaces }, (_, index) => `bench${run}n${index}`);
  tell(`measuring the registration of ${names.length} namespaces`);
  try {
    await mapConcurrently(names, makersMax, (name) => makeNamespace(client, name));
    const of = `a registration run of ${names.length} namespaces without changes`;
    const used = await measureRuns(cluster.kubeconfig, names);
    await using proxy = await startApiProxy(cluster);
    const counted = await withRegistration(proxy.kubeconfig, names, async (runOnce) => {
      await runOnce();
      const before = proxy.calls.length;
      await runOnce();
      return proxy.calls.slice(before);
    });
    const gets = counted.filter(({ method }) => method === 'GET').length;
    return [
      { name: `processor time of a namespace, ${of}`, unit: 'ms', aim: 2, server, summary: summarize(used) },
      toCalls(`GETs of a namespace, ${of}`, { server, aim: 1, count: gets / names.length }),
      toCalls(`writes, ${of}`, { server, aim: 0, count: counted.length - gets }),
    ];
  } finally {
    await mapConcurrently(names, makersMax, (name) => deleteNamespace(client, name));
  }
}

function toCalls(name: string, row: { server: string; aim: number; count: number }): RowResult {
  const { server, aim, count } = row;
  return { name, unit: 'calls', aim, server, summary: summarize([count]) };
}

async function measureRuns(kubeconfig: string, names: readonly string[]): Promise<number[]> {
  return withRegistration(kubeconfig, names, async (runOnce) => {
    for (let count = 0; count < runs.warmUp; count += 1) await runOnce();
    const samples: number[] = [];
    for (let count = 0; count < runs.samples; count += 1) {
      const before = process.cpuUsage();
      await runOnce();
      const { user, system } = process.cpuUsage(before);
      samples.push((user + system) / microsecondsPerMs / names.length);
    }
    return samples;
  });
}

/** The agent of an account with these namespaces, and with a registry whose pull secret each of them has. */
async function withRegistration<T>(
  kubeconfigFile: string,
  namespaces: readonly string[],
  work: (runOnce: () => Promise<unknown>) => Promise<T>,
): Promise<T> {
  await using dir = await makeTempDir();
  await using engine = await startDynamoDb({ dir: dir.path, tables });
  const database = new DynamoDBClient({ ...localClientOptions, endpoint: engine.url });
  try {
    const parts = { clock: systemClock, randomness: systemRandomness, codecs: {} };
    const cache = createCacheStore({ documents: database, tableName: cacheTable.name, ...parts });
    const hub = { name: 'hub', address: 'https://hub.example.com', username: 'robot', password: 'bench' };
    const fields = { kubeconfigFile, namespaces: [...namespaces] };
    await using registration = await openRegistration({ fields, registries: [hub], cache });
    return await work(() => registration.run());
  } finally {
    database.destroy();
  }
}
