import { type CacheServices, openCache } from '#caching/services/cache.ts';
import type { ChangeReceiver } from '#caching/store/wire-changes.ts';
import type { Services } from '#platform/services/services.ts';
import { type AgentHub, openAgentHub } from './agent-hub.ts';

/** Dependencies of functions by which agents keep their accounts cached. */
export interface AgentCacheHub extends AgentHub, Pick<CacheServices, 'cache' | 'agents'> {
  /** The writer that takes changes of an account's objects. @throws Error for one of a provider that takes none */
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
      const receiver = await hub.providers.findCloud(account)?.caching?.loadChangeReceiver?.();
      if (receiver === undefined) throw new Error(`provider ${cloudProvider} takes no changes of agents`);
      return receiver;
    },
  };
}
