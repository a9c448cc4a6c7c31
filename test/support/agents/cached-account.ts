import { setTimeout as sleep } from 'node:timers/promises';
import { getCachingAgentKey } from '#caching/aws/agents/caching-agent-items.ts';
import { cacheTable } from '#platform/aws/tables.ts';
import { findDifferences } from '../cluster/cached-cluster.ts';
import { createNamespace, getCluster, requestApi } from '../cluster/cluster.ts';
import type { System } from '../system/system.ts';
import { type AgentProcess, createTokenSigner, type TokenSigner, toAgentAccount } from './agent-process.ts';
import { startWorld, type World, type WorldOptions } from './agent-world.ts';
import { changeStored } from './stored-change.ts';

/** A namespace's objects, on a machine that does much else: usually they are cached within seconds. */
const cachedMs = 120_000;

/** Where an agent is to be started. */
export interface CachingAgentPlace {
  /** Where Busdriver answers it. Default: Busdriver's own address. */
  readonly url?: string;
  /** Default: that of the cluster. */
  readonly kubeConfigFile?: string;
}

/** What is shown of what keeps an account cached. */
export interface ShownCache {
  readonly account: string;
  readonly name: string;
  readonly asOf?: number;
  readonly leaseOwner?: string;
  readonly lastError?: string;
  readonly failures: number;
  readonly isStale: boolean;
  readonly details: { readonly [name: string]: unknown };
}

/** Busdriver with accounts that agents keep cached. Disposing stops it. */
export interface CachedWorld extends World {
  /** Whose name is given, one of those with which it was started. */
  use(name: string): CachedAccount;
}

/** What there is beside the accounts that are cached. */
export interface CachedWorldOptions extends WorldOptions {
  /** Names of accounts of agents of which nothing is cached. */
  readonly uncached?: readonly string[];
  /** Settings of further accounts. @param namespaces by the account that is confined to them */
  listOthers?(namespaces: ReadonlyMap<string, string>, signer: TokenSigner): readonly object[];
}

/** Starts Busdriver with accounts, each confined to a namespace of its own. It keeps its port; no agent is started. */
export async function openCachedWorld(
  names: readonly string[],
  { uncached = [], listOthers, cache = {}, ...options }: CachedWorldOptions = {},
): Promise<CachedWorld> {
  await using opening = new AsyncDisposableStack();
  const signer = await createTokenSigner();
  const made = names.map(async (name) => [name, opening.use(await createNamespace('cached')).name] as const);
  const namespaces = new Map(await Promise.all(made));
  const accounts = [...namespaces].map(([name, namespace]) => ({
    ...toAgentAccount(name, signer),
    namespaces: [namespace],
  }));
  // ConfigMaps are none of the kinds that are cached.
  const others = uncached.map((name) => ({ ...toAgentAccount(name, signer), kinds: ['configMap'] }));
  const all = [...accounts, ...others, ...(listOthers?.(namespaces, signer) ?? [])];
  const world = opening.use(await startWorld(all, { signer, keepsPort: true, ...options, cache }));
  const opened = opening.move();
  return {
    ...world,
    use: (name) => new CachedAccount(world, { name, namespace: namespaces.get(name) ?? '' }),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

/** An account, confined to a namespace of its own, that agents keep cached. Disposing stops those. */
export class CachedAccount implements AsyncDisposable {
  readonly name: string;
  readonly namespace: string;
  readonly system: System;
  readonly #world: World;
  readonly #agents = new AsyncDisposableStack();

  constructor(world: World, { name, namespace }: { readonly name: string; readonly namespace: string }) {
    this.#world = world;
    this.system = world.system;
    this.name = name;
    this.namespace = namespace;
  }

  /** Starts an agent of it. */
  async start({ url, kubeConfigFile }: CachingAgentPlace = {}): Promise<AgentProcess> {
    const others = url === undefined ? {} : { url };
    const file = kubeConfigFile ?? getCluster().kubeconfig;
    return this.#agents.use(await this.#world.start(this.name, file, others));
  }

  /** What `/cache/introspection` shows of it. */
  show(): Promise<ShownCache | undefined> {
    return findCache(this.system, this.name);
  }

  /** Waits until all that there was is cached. */
  async untilCached(): Promise<void> {
    await awaitSome('all is cached', async () => (await this.show())?.asOf);
  }

  /** Lets the lease of an agent end that is dead, as time would 45 seconds later. */
  async endLease(): Promise<void> {
    const { name = '' } = (await this.show()) ?? {};
    const key = getCachingAgentKey({ account: this.name, name });
    const change = { tableName: cacheTable.name, key, attribute: 'leaseUntil', value: 0 };
    await changeStored(this.system.stores, [change]);
  }

  /** Holds the cache against the cluster until both are equal. @returns milliseconds that this took */
  async awaitEquality(message = ''): Promise<number> {
    const beganMs = performance.now();
    let differences: readonly string[] = [];
    const isEqual = async (): Promise<true | undefined> => {
      const part = { account: this.name, namespaces: [this.namespace] };
      differences = await findDifferences(this.system, part);
      return differences.length === 0 || undefined;
    };
    const describe = (): string => `${message}\n${differences.slice(0, 20).join('\n')}`;
    await awaitSome('the cache equals the cluster', isEqual, { describe });
    return Math.round(performance.now() - beganMs);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#agents.disposeAsync();
  }
}

/** What `/cache/introspection` shows of an account; undefined while it shows nothing. */
export async function findCache(system: System, account: string): Promise<ShownCache | undefined> {
  return (await listCaches(system)).find((each) => each.account === account);
}

/** What it shows of all accounts; nothing while Busdriver is too busy. */
export async function listCaches(system: System): Promise<readonly ShownCache[]> {
  const answer = await system.fetch('/cache/introspection');
  return answer.ok ? ((await answer.json()) as ShownCache[]) : [];
}

/** Names of what a view of an application shows, in their order, or another member of each. */
export async function listShown(
  url: string,
  [application, view]: readonly [string, string],
  member = 'name',
): Promise<readonly string[]> {
  const answer = await fetch(new URL(`/applications/${application}/${view}`, url));
  if (!answer.ok) return [];
  return ((await answer.json()) as { [name: string]: string }[]).map((each) => each[member] ?? '').toSorted();
}

/** Makes a Deployment of an application, without Busdriver. */
export async function makeDeployment(namespace: string, name: string, application: string): Promise<void> {
  const { metadata, spec } = toDeployment(namespace, name);
  const annotations = { 'moniker.spinnaker.io/application': application };
  const collection = `/apis/apps/v1/namespaces/${namespace}/deployments`;
  await requestApi('POST', collection, { metadata: { ...metadata, annotations }, spec });
}

/** A Deployment whose pods run. */
export function toDeployment(namespace: string, name: string) {
  const labels = { app: name };
  const template = { metadata: { labels }, spec: { containers: [{ name: 'web', image: 'nginx:1' }] } };
  const spec = { replicas: 1, selector: { matchLabels: labels }, template };
  return { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name, namespace }, spec };
}

/** How to wait. */
export interface AwaitOptions {
  /** Milliseconds. Default: 120,000. */
  readonly timeoutMs?: number;
  /** Says what came of it so far, where it takes too long. */
  describe?(): string;
}

/**
 * Looks again and again until something is found; tests that run beside each other cannot poll by `expect`.
 *
 * @param what is to come true, in words
 * @throws Error with these when it takes too long
 */
export async function awaitSome<T>(
  what: string,
  find: () => T | undefined | Promise<T | undefined>,
  { timeoutMs = cachedMs, describe = () => '' }: AwaitOptions = {},
): Promise<T> {
  for (const endsAtMs = performance.now() + timeoutMs; ; await sleep(100)) {
    const found = await find();
    if (found !== undefined) return found;
    if (performance.now() > endsAtMs) throw new Error(`${timeoutMs} ms, and not yet: ${what} ${describe()}`);
  }
}
