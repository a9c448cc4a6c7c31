import type { ChangeReceiver } from '../../core/cache/wire-changes.ts';
import { type AgentHub, openAgentHub } from './agent-hub.ts';
import { type CacheServices, openCache } from './cache.ts';
import type { Services } from './services.ts';

/** What functions work with by which agents keep their accounts cached. */
export interface AgentCacheHub extends AgentHub, Pick<CacheServices, 'cache' | 'agents'> {
  /** What takes changes of an account's objects. @throws Error for one of a provider that takes none */
  loadReceiver(account: string): Promise<ChangeReceiver>;
}

/** Opens that. @throws as `openAgentHub` */
export async function openAgentCache(services: Services): Promise<AgentCacheHub> {
  const hub = await openAgentHub(services);
  const { cache, agents } = openCache(services, 'work');
  return {
    ...hub,
    cache,
    agents,
    async loadReceiver(account) {
      const { cloudProvider } = hub.providers.getAccount(account);
      const receiver = await hub.providers.findProvider(cloudProvider)?.loadChangeReceiver?.();
      if (receiver === undefined) throw new Error(`provider ${cloudProvider} takes no changes of agents`);
      return receiver;
    },
  };
}
