import { setTimeout as sleep } from 'node:timers/promises';
import { type WatchCachingAgentOptions, watchCachingAgent } from '#caching/engine/watch-caching-agent.ts';
import type { CachingAgent, CachingResult } from '#caching/scheduling/caching-agent.ts';
import type { CacheStore } from '#caching/store/cache-store.ts';
import { parseRevision } from '#caching/store/revision.ts';
import { createCacheWriter } from '#caching/writer/cache-writer.ts';
import type { Clock } from '#core/clock.ts';
import { asString, getPath, type JsonObject } from '#core/json.ts';
import { systemClock, systemRandomness } from '#platform/services/system.ts';
import { parseKubernetesAccounts } from '#providers/kubernetes/account/account.ts';
import { parseKubernetesSettings } from '#providers/kubernetes/account/account-settings.ts';
import { KubernetesApiError } from '#providers/kubernetes/api/errors.ts';
import { toWriterOptions } from '#providers/kubernetes/cache-writer/cache-model.ts';
import type { KindFamily } from '#providers/kubernetes/caching/kind-families.ts';
import { createClusterSource } from '#providers/kubernetes/caching/scope-source.ts';
import { createKubernetesClient } from '#providers/kubernetes/client/kubernetes-client.ts';
import type { ObjectFacts } from '#providers/kubernetes/rows/facts.ts';
import { WatchClient } from '#providers/kubernetes/watch/watch-client.ts';
import { getCluster, requestApi } from '#test/support/cluster/cluster.ts';
import { silentLog } from '../client/client-setup.ts';

/** What a test's account is. */
export interface WatchBenchOptions {
  readonly cache: CacheStore;
  /** Members of the account; it has a name, and the cluster's kubeconfig unless another one is given. */
  readonly account?: JsonObject;
  readonly settings?: JsonObject;
  readonly family?: KindFamily;
  readonly clock?: Clock;
  /** Kind of which the first list is answered 404, as of one that the cluster has just begun to tell of. */
  readonly lateKind?: string;
}

/** One account of the cluster, and what watches it. */
export interface WatchBench extends AsyncDisposable {
  readonly account: string;
  readonly options: BenchOptions;
  /** The agent, for a worker. */
  readonly agent: CachingAgent;
  /** Begins to watch. */
  watch(state?: string): Watched;
}

/** Something that watches. */
export interface Watched {
  readonly done: Promise<CachingResult>;
  /** The last progress that it told. */
  readonly progress: Omit<CachingResult, 'outcome'> | undefined;
  stop(): Promise<CachingResult>;
}

/** Options of watching an account of Kubernetes. */
export type BenchOptions = WatchCachingAgentOptions<ObjectFacts>;

let accounts = 0;

/** Opens an account of the test cluster. */
export function openWatchBench(options: WatchBenchOptions): WatchBench {
  const { cache, family = 'built-in', clock = systemClock, settings: more = {} } = options;
  accounts += 1;
  const name = asString(options.account?.['name']) ?? `watched-${process.pid}-${accounts}`;
  const settings = {
    ...more,
    kubernetes: {
      ...(more['kubernetes'] as JsonObject | undefined),
      accounts: [{ kubeconfigFile: getCluster().kubeconfig, ...options.account, name }],
    },
  };
  const { accounts: parsed, rejected } = parseKubernetesAccounts(settings);
  const [account] = parsed;
  if (account === undefined) throw new Error(rejected[0]?.reason);
  const parts = {
    connection: { ...account.connection, placement: 'local' as const },
    clock,
    randomness: systemRandomness,
    log: silentLog,
    environment: {},
  };
  const client = createKubernetesClient(parts);
  const watches = new WatchClient(parts);
  if (options.lateKind !== undefined) refuseFirstList(watches, options.lateKind);
  const writing = toWriterOptions({ cache, account, clock, randomness: systemRandomness });
  const watchOptions: BenchOptions = {
    ...writing,
    source: createClusterSource({
      account,
      settings: parseKubernetesSettings(settings).cache,
      family,
      hasCustomAgent: family === 'custom',
      client,
      watches,
      clock,
      randomness: systemRandomness,
    }),
    writer: createCacheWriter(writing),
    intervalMs: 30_000,
  };
  const agent: CachingAgent = {
    account: name,
    name: 'core',
    provider: 'kubernetes',
    intervalMs: 30_000,
    timeoutMs: 60_000,
    mode: 'stream',
    run: () => Promise.reject(new Error('it is to be watched')),
    watch: (run) => watchCachingAgent(watchOptions, run),
  };
  return {
    account: name,
    options: watchOptions,
    agent,
    watch: (state) => startWatching(watchOptions, cache, state),
    async [Symbol.asyncDispose]() {
      await client[Symbol.asyncDispose]();
      await watches[Symbol.asyncDispose]();
    },
  };
}

function refuseFirstList(watches: WatchClient, kind: string): void {
  let isRefused = false;
  const listFrom = watches.listFrom.bind(watches);
  watches.listFrom = (scope, options) => {
    if (isRefused || scope.resource.kind !== kind) return listFrom(scope, options);
    isRefused = true;
    throw new KubernetesApiError(404, 'NotFound', 'the server could not find the requested resource');
  };
}

function startWatching(options: BenchOptions, cache: CacheStore, state: string | undefined): Watched {
  const aborter = new AbortController();
  let progress: Watched['progress'];
  const onProgress = (told: Omit<CachingResult, 'outcome'>): void => {
    progress = told;
  };
  const { signal } = aborter;
  const ensureHeld = (): void => signal.throwIfAborted();
  const done = watchCachingAgent(options, { cache, state, signal, ensureHeld, onProgress });
  done.catch(() => undefined);
  return {
    done,
    get progress() {
      return progress;
    },
    stop() {
      aborter.abort(new Error('the test stops it'));
      return done;
    },
  };
}

/** Where the API server has the kinds that tests make. */
const paths: { readonly [kind: string]: string } = {
  deployment: 'apis/apps/v1/namespaces/{namespace}/deployments',
  replicaSet: 'apis/apps/v1/namespaces/{namespace}/replicasets',
  pod: 'api/v1/namespaces/{namespace}/pods',
  service: 'api/v1/namespaces/{namespace}/services',
};

/** The objects of a namespace as the cluster has them, a line each with their resource versions. */
export async function listLive(namespace: string): Promise<string[]> {
  const lists = Object.entries(paths).map(async ([kind, path]) => {
    const target = `/${path.replace('{namespace}', namespace)}`;
    const list = (await requestApi('GET', target)) as { readonly items: readonly unknown[] };
    return list.items.map((item) => toLine(kind, getPath(item, 'metadata')));
  });
  return (await Promise.all(lists)).flat().sort();
}

/** The same as the cache has them. */
export async function listCached(cache: CacheStore, account: string, namespace: string): Promise<string[]> {
  const lines: string[] = [];
  for (const kind of Object.keys(paths)) {
    for await (const heads of cache.listHeads(account, kind, { location: namespace })) {
      for (const { key, revision } of heads) {
        lines.push(`${kind} ${key.name}@${parseRevision(revision).position}`);
      }
    }
  }
  return lines.sort();
}

function toLine(kind: string, metadata: unknown): string {
  return `${kind} ${getPath(metadata, 'name')}@${getPath(metadata, 'resourceVersion')}`;
}

/** Waits until something holds. */
export async function until(
  check: () => boolean | Promise<boolean>,
  { withinMs = 20_000, describe = async (): Promise<unknown> => undefined } = {},
): Promise<void> {
  const endsAtMs = performance.now() + withinMs;
  while (!(await check())) {
    if (performance.now() > endsAtMs) {
      throw new Error(`this did not come true: ${check}\n${JSON.stringify(await describe())}`);
    }
    await sleep(20);
  }
}
