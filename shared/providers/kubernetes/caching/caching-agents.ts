import {
  type CachingAgent,
  type CachingRun,
  defaultCachingAgentTimeoutMs,
} from '#caching/scheduling/caching-agent.ts';
import { defaultCachingAgentIntervalMs } from '#caching/scheduling/caching-agent-schedule.ts';
import type { ProviderContext } from '#provider-kit/provider.ts';
import { isV1Account, type KubernetesAccount } from '../account/account.ts';
import type { AccountClients } from '../account/account-clients.ts';
import type { KubernetesSession } from '../account/session.ts';
import type { WatchClient } from '../watch/watch-client.ts';
import { canHaveCustomKinds, type KindFamily } from './kind-families.ts';
import { createApplicationsLoader } from './known-applications.ts';

/** Clouddriver's names. Clouddriver runs `cacheThreads` of each per account; here one is enough. */
const agentNames: Readonly<Record<KindFamily, string>> = {
  'built-in': 'KubernetesCoreCachingAgent[1/1]',
  custom: 'KubernetesUnregisteredCustomResourceCachingAgent[1/1]',
};

/**
 * Makes the caching agents of a session's accounts. Nothing is loaded or connected before one of them runs; the session closes their
 * connections.
 */
export function createCachingAgents(
  session: KubernetesSession,
  options: ProviderContext,
): readonly CachingAgent[] {
  const connections = session.openWatchClients(options, 'agents');
  const { enabled } = session.settings.cache;
  const accounts = enabled ? session.accounts : [];
  return accounts.flatMap((account) => {
    const hasCustomAgent = canHaveCustomKinds(account, session.settings.cache);
    const families: readonly KindFamily[] = hasCustomAgent ? ['built-in', 'custom'] : ['built-in'];
    const parts = { session, options, connections, hasCustomAgent };
    return families.map((family) =>
      // Accounts that only an agent reaches are not cached from here.
      account.agentHome === undefined
        ? createCachingAgent(account, { ...parts, family, name: agentNames[family] })
        : createRemoteAgent(account, { options, name: agentNames[family] }),
    );
  });
}

/** The placeholder for a caching agent that runs in the account's cluster. Running it here fails, with a message that says so. */
function createRemoteAgent(
  account: KubernetesAccount,
  { options, name }: Pick<CachingAgentParts, 'options' | 'name'>,
): CachingAgent {
  return {
    ...describeAgent(account, { options, name }),
    mode: 'stream',
    isRemote: true,
    async run() {
      throw new Error(`Account ${account.name} is cached by agents in its cluster`);
    },
  };
}

/** What any agent of an account says of itself. */
function describeAgent(
  { name: account, cloudProvider: provider, caching: { intervalSeconds } }: KubernetesAccount,
  { options, name }: Pick<CachingAgentParts, 'options' | 'name'>,
) {
  const usualMs = options.agentIntervalMs ?? defaultCachingAgentIntervalMs;
  const intervalMs = intervalSeconds ? intervalSeconds * 1000 : usualMs;
  return { account, name, provider, intervalMs, timeoutMs: defaultCachingAgentTimeoutMs };
}

/** The parts of an account's caching agent. */
export interface CachingAgentParts {
  /** Its name among the account's caching agents. */
  readonly name: string;
  readonly session: KubernetesSession;
  readonly options: ProviderContext;
  readonly connections: AccountClients<WatchClient>;
  readonly family: KindFamily;
  readonly hasCustomAgent: boolean;
  /** Adds to the account what settings do not say, before each run. Default: adds nothing. */
  readonly complete?: (account: KubernetesAccount, signal: AbortSignal) => Promise<KubernetesAccount>;
}

/** Makes a caching agent of an account. Nothing is loaded or connected before it runs. */
export function createCachingAgent(account: KubernetesAccount, parts: CachingAgentParts): CachingAgent {
  const { session, options, connections, family, hasCustomAgent, complete } = parts;
  const { clock, randomness } = session;
  const settings = session.settings.cache;
  const loadApplications = isV1Account(account)
    ? undefined
    : createApplicationsLoader(settings, options.peers?.findCatalog);
  const { mode } = account.caching;
  const { changeSender, limitLists } = session.cache;
  const described = describeAgent(account, parts);
  const { intervalMs } = described;
  // Loaded late: functions that only look at accounts run no caching agent.
  const open = async ({ cache, signal }: Pick<CachingRun, 'cache' | 'signal'>) => {
    const [
      { openCacheWriter },
      { toWriterOptions },
      { createClusterSource },
      client,
      watches,
      whole = account,
    ] = await Promise.all([
      import('#caching/writer/open-writer.ts'),
      import('../cache-writer/cache-model.ts'),
      import('./scope-source.ts'),
      session.getClient(account),
      connections.get(account),
      complete?.(account, signal),
    ]);
    const options = toWriterOptions({ cache, account, clock, randomness });
    const writer = await openCacheWriter(options, changeSender);
    const cluster = { account: whole, settings, family, hasCustomAgent, client, watches, loadApplications };
    return { ...options, source: createClusterSource({ ...cluster, clock, randomness }), writer, limitLists };
  };
  return {
    ...described,
    mode,
    streamedAccountsMax: settings.streamedAccountsMax,
    async run(run) {
      const [{ runCachingAgent }, parts] = await Promise.all([
        import('#caching/engine/scoped-run.ts'),
        open(run),
      ]);
      return runCachingAgent(parts, run);
    },
    async watch(run) {
      const [{ watchCachingAgent }, parts] = await Promise.all([
        import('#caching/engine/watch-caching-agent.ts'),
        open(run),
      ]);
      return watchCachingAgent({ ...parts, intervalMs, isDistant: changeSender !== undefined }, run);
    },
  };
}
