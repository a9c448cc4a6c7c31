import { setTimeout as sleep } from 'node:timers/promises';
import {
  type AgentProcess,
  createTokenSigner,
  findFreePort,
  startAgent,
  toAgentAccount,
} from '../../../support/agents/agent-process.ts';
import { startCachingWorld } from '../../../support/agents/agent-world.ts';
import { findDifferences } from '../../../support/cluster/cached-cluster.ts';
import { createNamespace, getCluster } from '../../../support/cluster/cluster.ts';
import type { System } from '../../../support/system/system.ts';

const account = 'edge';

/** A namespace's objects, on a machine that does much else: usually they are cached within seconds. */
const cachedMs = 120_000;

/** Where an agent is to be started. */
export interface CachingAgentPlace {
  /** Where Busdriver answers it. Default: Busdriver's own address. */
  readonly url?: string;
  /** Default: that of the cluster. */
  readonly kubeConfigFile?: string;
}

/** What is shown of what keeps the account cached. */
export interface ShownCache {
  readonly asOf?: number;
  readonly leaseOwner?: string;
  readonly lastError?: string;
  readonly failures: number;
  readonly details: { readonly [name: string]: unknown };
}

/** The account `edge`, confined to a namespace of its own, which agents keep cached. Disposing stops them, and Busdriver. */
export interface CachedAccount extends AsyncDisposable {
  /** It keeps its port when it is restarted. */
  readonly system: System;
  readonly namespace: string;
  /** Starts an agent of it. */
  start(place?: CachingAgentPlace): Promise<AgentProcess>;
  /** What `/cache/introspection` shows of it. */
  show(): Promise<ShownCache | undefined>;
  /** Waits until all that there was is cached. */
  untilCached(): Promise<void>;
  /** Holds the cache against the cluster until both are equal. @returns milliseconds that this took */
  awaitEquality(message?: string): Promise<number>;
}

/** Starts Busdriver with the account. No agent is started. */
export async function openCachedAccount(): Promise<CachedAccount> {
  await using opening = new AsyncDisposableStack();
  const { name: namespace } = opening.use(await createNamespace('cached'));
  const signer = await createTokenSigner();
  const port = await findFreePort();
  const settings = [{ ...toAgentAccount(account, signer), namespaces: [namespace] }];
  const { system } = opening.use(await startCachingWorld(settings, ['--port', String(port)]));
  const token = await signer.sign({ lifeSeconds: 3_600 });
  const stack = opening.move();
  const show = async (): Promise<ShownCache | undefined> => {
    const answer = await system.fetch('/cache/introspection');
    if (!answer.ok) return undefined;
    const shown = (await answer.json()) as (ShownCache & { account: string })[];
    return shown.find((each) => each.account === account);
  };
  return {
    system,
    namespace,
    async start({ url = system.url, kubeConfigFile = getCluster().kubeconfig } = {}) {
      const accounts = [{ name: account, kubeConfigFile }];
      return stack.use(await startAgent({ url, token, accounts }));
    },
    show,
    async untilCached() {
      await awaitSome('all is cached', async () => (await show())?.asOf);
    },
    async awaitEquality(message = '') {
      const beganMs = performance.now();
      let differences: readonly string[] = [];
      const isEqual = async (): Promise<true | undefined> => {
        differences = await findDifferences(system, { account, namespaces: [namespace] });
        return differences.length === 0 || undefined;
      };
      const describe = (): string => `${message}\n${differences.slice(0, 20).join('\n')}`;
      await awaitSome('the cache equals the cluster', isEqual, { describe });
      return Math.round(performance.now() - beganMs);
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
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
