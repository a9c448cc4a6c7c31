import { defaultAgentIntervalMs } from '../../../core/agents/agent-schedule.ts';
import {
  type CachingAgent,
  type CachingRun,
  defaultAgentTimeoutMs,
} from '../../../core/agents/caching-agent.ts';
import type { ProviderOptions } from '../../../core/providers/provider.ts';
import type { KubernetesAccount } from '../account/account.ts';
import { AccountClients } from '../account/account-clients.ts';
import type { KubernetesSession } from '../account/session.ts';
import type { WatchClient } from '../watch/watch-client.ts';
import type { AgentRunOptions } from './agent-run.ts';
import { canHaveCustomKinds, type KindFamily } from './kind-families.ts';
import { createApplicationsLoader } from './known-applications.ts';

/** The caching agents of all accounts, with the connections that they open. */
export interface CachingAgents extends AsyncDisposable {
  readonly agents: readonly CachingAgent[];
}

/** Clouddriver's names. It has as many of each as an account has `cacheThreads`; here one does. */
const agentNames: Readonly<Record<KindFamily, string>> = {
  'built-in': 'KubernetesCoreCachingAgent[1/1]',
  custom: 'KubernetesUnregisteredCustomResourceCachingAgent[1/1]',
};

/** Makes the agents that keep a session's accounts cached. Nothing is loaded or connected to before one of them runs. */
export function createCachingAgents(session: KubernetesSession, options: ProviderOptions): CachingAgents {
  const connections = new AccountClients(options, async (parts) => {
    const { createWatchClient } = await import('../watch/watch-client.ts');
    return createWatchClient(parts);
  });
  const { enabled } = session.settings.cache;
  const accounts = enabled ? session.accounts : [];
  return {
    agents: accounts.flatMap((account) => createAgents(account, { session, options, connections })),
    [Symbol.asyncDispose]: () => connections[Symbol.asyncDispose](),
  };
}

interface AgentParts {
  readonly session: KubernetesSession;
  readonly options: ProviderOptions;
  readonly connections: AccountClients<WatchClient>;
}

function createAgents(account: KubernetesAccount, parts: AgentParts): CachingAgent[] {
  const hasCustomAgent = canHaveCustomKinds(account, parts.session.settings.cache);
  const families: readonly KindFamily[] = hasCustomAgent ? ['built-in', 'custom'] : ['built-in'];
  return families.map((family) => createAgent(account, { ...parts, family, hasCustomAgent }));
}

function createAgent(
  account: KubernetesAccount,
  parts: AgentParts & { readonly family: KindFamily; readonly hasCustomAgent: boolean },
): CachingAgent {
  const { session, options, connections, family, hasCustomAgent } = parts;
  const { clock, randomness } = session;
  const settings = session.settings.cache;
  const loadApplications = createApplicationsLoader({ settings, findCatalog: options.findCatalog });
  const { intervalSeconds, mode } = account.caching;
  const intervalMs = intervalSeconds
    ? intervalSeconds * 1000
    : (options.agentIntervalMs ?? defaultAgentIntervalMs);
  // Loaded late: functions that only look at accounts run no agent.
  const open = async ({ cache }: Pick<CachingRun, 'cache'>): Promise<AgentRunOptions> => {
    const [{ createCacheWriter }, client, watches] = await Promise.all([
      import('../cache-writer/cache-writer.ts'),
      session.getClient(account),
      connections.get(account),
    ]);
    const writer = createCacheWriter({ cache, account, clock, randomness });
    const work = { account, settings, family, hasCustomAgent, client, watches, clock, randomness };
    return { ...work, loadApplications, writer };
  };
  return {
    account: account.name,
    name: agentNames[family],
    provider: account.cloudProvider,
    intervalMs,
    timeoutMs: defaultAgentTimeoutMs,
    mode,
    async run(run) {
      const [{ runCachingAgent }, parts] = await Promise.all([import('./agent-run.ts'), open(run)]);
      return runCachingAgent(parts, run);
    },
    async follow(run) {
      const [{ followCachingAgent }, parts] = await Promise.all([import('./follow-agent.ts'), open(run)]);
      return followCachingAgent({ ...parts, intervalMs }, run);
    },
  };
}
