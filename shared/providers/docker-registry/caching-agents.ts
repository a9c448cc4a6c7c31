import type { AccountBreakers } from '#accounts/model/account-breaker.ts';
import { type CachingAgent, defaultCachingAgentTimeoutMs } from '#caching/scheduling/caching-agent.ts';
import type { Clock } from '#core/clock.ts';
import type { RegistryAccount } from './account.ts';
import type { AccountClients } from './account-clients.ts';
import type { RepositoryKind } from './cached-tags.ts';
import { findImageChange } from './ecr-events.ts';

/** Clouddriver's names. It runs `cacheThreads` of each per account; here one is enough. */
const agentNames: { readonly [kind in RepositoryKind]: string } = {
  repository: 'DockerRegistryImageCachingAgent[1/1]',
  chart: 'DockerRegistryHelmOciCachingAgent[1/1]',
};

/** The options of caching agents. */
export interface CachingAgentParts {
  readonly clients: AccountClients;
  readonly clock: Clock;
  /** Reports the health of accounts. Default: not reported. */
  readonly breakers?: AccountBreakers | undefined;
}

/** Creates the caching agents of accounts. Nothing else is loaded or connected before one of them runs. */
export function createCachingAgents(
  accounts: readonly RegistryAccount[],
  { clients, clock, breakers }: CachingAgentParts,
): readonly CachingAgent[] {
  const open = async (account: RegistryAccount, kind: RepositoryKind) => {
    const [{ runImageCachingAgent, updateRepository }, { client, listing }] = await Promise.all([
      import('./caching-agent-run.ts'),
      clients.open(account),
    ]);
    return { runImageCachingAgent, updateRepository, account, client, listing, clock, kind };
  };
  const toAgent = (account: RegistryAccount, kind: RepositoryKind): CachingAgent => {
    const breaker = breakers?.get(account.name, account.baseUrl.href);
    return {
      account: account.name,
      name: agentNames[kind],
      provider: account.cloudProvider,
      mode: 'interval',
      intervalMs: account.intervalMs,
      timeoutMs: defaultCachingAgentTimeoutMs,
      async run(run) {
        const { runImageCachingAgent, ...parts } = await open(account, kind);
        const { judgeRun } = await import('./run-health.ts');
        return judgeRun({ breaker, signal: run.signal }, () => runImageCachingAgent(parts, run));
      },
      findUpdate(event) {
        const change = findImageChange(event, account);
        if (change === undefined) return undefined;
        return async (run) => {
          const { updateRepository, ...parts } = await open(account, kind);
          return updateRepository(parts, change, run);
        };
      },
    };
  };
  return accounts.flatMap((account) => [
    toAgent(account, 'repository'),
    ...(account.charts.names.length > 0 ? [toAgent(account, 'chart')] : []),
  ]);
}
