import { getCachingAgentKey, parseCachingAgent } from '#caching/aws/agents/caching-agent-items.ts';
import { DynamoCachingAgentStore } from '#caching/aws/agents/caching-agent-store.ts';
import { createCacheStore } from '#caching/aws/store/cache-store.ts';
import { CacheTable } from '#caching/aws/store/cache-table.ts';
import type { CachingAgent } from '#caching/scheduling/caching-agent.ts';
import type { StoredCachingAgent } from '#caching/scheduling/caching-agent-store.ts';
import { type CachingAgentSystem, runTurns } from '#caching/scheduling/run-turns.ts';
import type { CacheStore } from '#caching/store/cache-store.ts';
import type { Logger } from '#core/logger.ts';
import { kubernetesPlugin } from '#providers/kubernetes/index.ts';
import type { StoreEngine } from '#test/contracts/store-bench.ts';
import type { ScriptedServer } from '#test/shared/providers/kubernetes/client/scripted-server.ts';
import { openProvider } from '#test/shared/providers/kubernetes/provider-setup.ts';
import { countCapacity, type Units } from '#test/support/engines/count-capacity.ts';
import { toSet } from '#test/support/providers/provider-set.ts';
import { createTestClock, type TestClock, testRandomness } from '#test/support/run/test-clock.ts';
import { openViewSet } from '#views/view-set.ts';
import type { ViewReader } from '#views/views.ts';
import type { FleetWorld } from './fleet-world.ts';

/** Accounts of one cluster with their cache, run as a worker runs them. */
export interface CapacityBench extends AsyncDisposable {
  readonly cache: CacheStore;
  readonly agents: DynamoCachingAgentStore;
  readonly reader: ViewReader;
  readonly clock: TestClock;
  /** What the table was asked for since the last time. */
  takeUnits(): Units;
  /** Requests since then. */
  countRequests(): number;
  /** How much of an account answers tell to be too large; undefined when nothing is known of it. */
  readTooLarge(account: string): Promise<number | undefined>;
  /** Runs the agent of an account once. @returns it as it is then */
  run(account: string): Promise<StoredCachingAgent>;
  /** The agent of an account. */
  find(account: string): Promise<StoredCachingAgent>;
}

export interface CapacityBenchOptions {
  readonly engine: StoreEngine;
  readonly server: ScriptedServer;
  readonly world: FleetWorld;
  readonly accounts: readonly string[];
}

/** Milliseconds that a run may take: an hour. */
const timeoutMs = 3600_000;

const silentLog: Logger = { debug() {}, info() {}, warn() {}, error() {} };

/** Opens accounts of which nothing is cached. All of them have the same cluster. */
export async function openCapacityBench(options: CapacityBenchOptions): Promise<CapacityBench> {
  const { engine, server, world } = options;
  server.script((response, request) => world.answer(request.path)(response, request));
  const clock = createTestClock();
  const documents = engine.openDocuments();
  const units = countCapacity(documents);
  const parts = { documents, tableName: engine.tableName, clock, randomness: testRandomness };
  const cache = createCacheStore({ ...parts, codecs: kubernetesPlugin.rowCodecs ?? {} });
  const agents = new DynamoCachingAgentStore(parts);
  const members = {
    kinds: ['deployment', 'replicaSet', 'pod'],
    serviceAccount: false,
    kubeconfigContents: server.getKubeconfig(),
  };
  const provider = openProvider(
    options.accounts.map((name) => ({ ...members, name })),
    { clock },
  );
  const set = toSet(provider);
  const reader = await openViewSet(set.clouds, cache, () => true);
  const core = (await set.loadCachingAgents()).filter(({ name }) => name.includes('Core'));
  // A function has processors of its own, and a table in AWS, too: here all of them share one.
  const own = core.map((agent): CachingAgent => ({ ...agent, timeoutMs }));
  const byAccount = new Map(own.map((agent) => [agent.account, agent]));
  await agents.sync(own);
  const system: CachingAgentSystem = {
    ...{ agents, cache, clock, randomness: testRandomness, log: silentLog, host: 'capacity' },
    bus: { publish: async () => undefined },
    recordLags: () => undefined,
    recordTooLarge: () => undefined,
    agentQueue: { send: async () => undefined },
  };
  // By a client of its own, whose requests are not counted.
  const table = new CacheTable({ ...parts, documents: engine.openDocuments() });
  const find = async (account: string): Promise<StoredCachingAgent> => {
    const agent = byAccount.get(account);
    const item = agent && (await table.get(getCachingAgentKey(agent)));
    if (item === undefined) throw new Error(`there is no agent of ${account}`);
    return parseCachingAgent(item);
  };
  return {
    cache,
    agents,
    reader,
    clock,
    takeUnits: () => units.take(),
    countRequests: () => units.units.requests,
    readTooLarge: async (account) => (await agents.readFreshness([account])).get(account)?.tooLarge,
    async run(account) {
      await runOnce(system, byAccount.get(account));
      return find(account);
    },
    find,
    [Symbol.asyncDispose]: () => provider[Symbol.asyncDispose](),
  };
}

async function runOnce(system: CachingAgentSystem, agent: CachingAgent | undefined): Promise<void> {
  if (agent === undefined) throw new Error('there is no such agent');
  const { account, name } = agent;
  const message = { agents: [{ account, name }], dueMs: system.clock.now(), isDemanded: true };
  const stop = new AbortController().signal;
  await runTurns(system, message, { findAgent: () => agent, stop });
}

interface ServerGroup {
  readonly name: string;
  readonly account: string;
  readonly instances: readonly unknown[];
}

/** Everything of the views of an application in an account: its clusters, and its server groups with the names of their pods. */
export async function showApplication(
  { reader }: Pick<CapacityBench, 'reader'>,
  application: string,
  account?: string,
): Promise<{
  clusters: Readonly<Record<string, readonly string[]>>;
  serverGroups: ReadonlyMap<string, number>;
}> {
  const clusters = (await reader.listClusterNames(application)).value;
  const { value } = await reader.listServerGroups({ applications: [application], expand: false });
  const serverGroups = new Map<string, number>();
  for (const each of value as readonly ServerGroup[]) {
    if (account === undefined || each.account === account) serverGroups.set(each.name, each.instances.length);
  }
  return { clusters, serverGroups };
}
