import type { CachingAgent, CachingResult, CachingRun } from '#caching/scheduling/caching-agent.ts';
import type { CachingAgentProgress } from '#caching/scheduling/caching-agent-store.ts';
import type { CacheStore } from '#caching/store/cache-store.ts';
import { asString, getPath, type JsonObject } from '#core/json.ts';
import type { Provider } from '#provider-kit/provider.ts';
import { decodeFacts } from '#providers/kubernetes/rows/facts-codec.ts';
import { newAccount, openCache } from '#test/contracts/cache-bench.ts';
import type { StoreEngine } from '#test/contracts/store-bench.ts';
import { requestApi } from '#test/support/cluster/cluster.ts';
import { toSet } from '#test/support/providers/provider-set.ts';
import type { TestClock } from '#test/support/run/test-clock.ts';
import { openProvider, type ProviderSetup } from '../provider-setup.ts';

export const agentNames = {
  core: 'KubernetesCoreCachingAgent[1/1]',
  custom: 'KubernetesUnregisteredCustomResourceCachingAgent[1/1]',
} as const;

/** What a bench is made with. */
export interface AgentBenchOptions {
  readonly engine: StoreEngine;
  /** Members of the account besides its name. */
  readonly account: JsonObject;
  /** Members of `kubernetes.cache`. */
  readonly cacheSettings?: JsonObject;
  /** Default: a new one; given to look at the same account in another way. */
  readonly before?: AgentBench;
  /** Default: that of `before`, or a new one. */
  readonly clock?: TestClock;
  readonly setup?: ProviderSetup;
}

/** How to run an agent. */
export interface BenchRun extends Partial<Pick<CachingRun, 'isAlone' | 'signal' | 'cache' | 'ensureHeld'>> {
  readonly agent?: string;
  /** Whether the worker dies when it is about to store a state. */
  readonly commitDies?: boolean;
}

/** The agents of one account with a cache, run as a worker would run them. */
export interface AgentBench extends AsyncDisposable {
  readonly account: string;
  readonly cache: CacheStore;
  readonly clock: TestClock;
  readonly provider: Provider;
  loadAgents(): Promise<readonly CachingAgent[]>;
  /** What each agent left for its next run. */
  readonly states: Map<string, string>;
  /** How far runs told that they have come, in order. */
  readonly told: CachingAgentProgress[];
  /** Runs an agent once, alone; by default the core agent. What it commits counts even if it then fails. */
  run(options?: BenchRun): Promise<CachingResult>;
}

/** Opens the agents of an account over a cache. */
export function openAgentBench(options: AgentBenchOptions): AgentBench {
  const { engine, before, cacheSettings = {}, setup = {} } = options;
  const { store: cache, clock } = openCache(engine, options.clock ?? before?.clock);
  const name = before?.account ?? newAccount();
  const settings = { ...setup.settings, kubernetes: { cache: cacheSettings } };
  const account = { serviceAccount: false, ...options.account, name };
  const provider = openProvider([account], { clock, ...setup, settings });
  const loadAgents = () => toSet(provider).loadCachingAgents();
  const states = before?.states ?? new Map<string, string>();
  const told: CachingAgentProgress[] = [];
  return {
    account: name,
    cache,
    clock,
    provider,
    loadAgents,
    states,
    told,
    async run({ agent: agentName = agentNames.core, commitDies = false, ...run } = {}) {
      const store = async (state: string, progress?: CachingAgentProgress): Promise<void> => {
        if (commitDies) throw new Error('killed');
        states.set(agentName, state);
        if (progress !== undefined) told.push(progress);
      };
      const agent = (await loadAgents()).find((each) => each.name === agentName);
      if (agent === undefined) throw new Error(`there is no ${agentName}`);
      const result = await agent.run({
        cache,
        state: states.get(agentName),
        isAlone: true,
        signal: new AbortController().signal,
        ensureHeld: () => run.signal?.throwIfAborted(),
        commitState: store,
        ...run,
      });
      await store(result.state);
      return result;
    },
    [Symbol.asyncDispose]: () => provider[Symbol.asyncDispose](),
  };
}

/** `name@resourceVersion` of what is cached of a kind, sorted; of other namespaces nothing, unless none is given. */
export async function readCached(
  { cache, account }: Pick<AgentBench, 'cache' | 'account'>,
  kind: string,
  namespace?: string,
): Promise<string[]> {
  const found: string[] = [];
  for await (const page of cache.listObjects(account, kind, { location: namespace })) {
    for (const object of page) {
      const facts = object.gone ? undefined : decodeFacts(object.readBody());
      if (facts !== undefined) found.push(`${facts.name}@${facts.resourceVersion}`);
    }
  }
  return found.sort();
}

/** The same of what there is in the cluster. @param path of the collection, as in `/apis/apps/v1/namespaces/x/deployments` */
export async function readLive(path: string): Promise<string[]> {
  const list = await requestApi('GET', path);
  const items = getPath(list, 'items');
  return (Array.isArray(items) ? items : [])
    .map((item) => `${name(item)}@${asString(getPath(item, 'metadata', 'resourceVersion'))}`)
    .sort();
}

function name(item: unknown): string {
  return asString(getPath(item, 'metadata', 'name')) ?? '';
}
