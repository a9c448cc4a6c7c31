import type { CachingAgent, CachingResult } from '../../../../core/agents/caching-agent.ts';
import type { ProviderOptions } from '../../../../core/providers/provider.ts';
import { isV1Account, type KubernetesAccount } from '../../account/account.ts';
import type { KubernetesSession } from '../../account/session.ts';
import { loadV1Namespaces } from '../../account/v1-namespaces.ts';
import { type AgentParts, createCachingAgent } from '../../caching/caching-agents.ts';

/** Name of the agent that keeps a V1 account cached. */
export const v1CachingAgentName = 'KubernetesV1CachingAgent[1/1]';

/** What Spinnaker's V1 provider had an agent of its own for; of its names dashboards may have some. */
const replacedAgents = [
  ...['Instance', 'LoadBalancer', 'SecurityGroup', 'ServerGroup', 'Deployment', 'ServiceAccount'],
  ...['ConfigMap', 'Secret', 'Controllers'],
]
  .map((kind) => `Kubernetes${kind}CachingAgent`)
  .join(', ');

/** Makes the agents that keep V1 accounts cached. Nothing is loaded or connected to before one of them runs. */
export function createV1CachingAgents(
  session: KubernetesSession,
  options: ProviderOptions,
): readonly CachingAgent[] {
  if (!session.settings.cache.enabled) return [];
  const connections = session.openWatchClients(options, 'agents');
  const complete: AgentParts['complete'] = (account, signal) => completeAccount(account, session, signal);
  const parts = { session, options, connections, family: 'built-in', hasCustomAgent: false } as const;
  return session.v1Accounts.map((account) => {
    const agent = createCachingAgent(account, { ...parts, name: v1CachingAgentName, complete });
    return {
      ...agent,
      run: async (run) => addDetails(await agent.run(run)),
      async watch(run) {
        const onProgress: typeof run.onProgress = (progress) => run.onProgress(addDetails(progress));
        const result = await agent.watch?.({ ...run, onProgress });
        if (result === undefined) throw new Error('a V1 account cannot be watched');
        return addDetails(result);
      },
    };
  });
}

/** The account with the namespaces that it uses: those that it does not name stand in its kubeconfig. */
async function completeAccount(
  account: KubernetesAccount,
  session: KubernetesSession,
  signal: AbortSignal,
): Promise<KubernetesAccount> {
  if (!isV1Account(account)) return account;
  const client = await session.getClient(account);
  return { ...account, namespaces: await loadV1Namespaces(account, client, signal) };
}

function addDetails<T extends Pick<CachingResult, 'details'>>(result: T): T {
  return { ...result, details: { ...result.details, agents: replacedAgents } };
}
