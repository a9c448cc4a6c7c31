import { openDocuments } from '#platform/services/aws-clients.ts';
import { type BaseServices, openBase } from '#platform/services/base.ts';
import type { Services } from '#platform/services/services.ts';
import { DynamoCachingAgentStore } from '../aws/agents/caching-agent-store.ts';
import type { CachingAgentStore } from '../scheduling/caching-agent-store.ts';

/** What functions use that only look at caching agents: it loads no provider. */
export interface CachingAgentStoreServices extends BaseServices {
  readonly agents: CachingAgentStore;
}

/** Opens what functions use that only look at caching agents. */
export function openCachingAgentStore(services: Services): CachingAgentStoreServices {
  return services.get(createAgentStore);
}

function createAgentStore(services: Services): CachingAgentStoreServices {
  const base = openBase(services);
  const { config, clock, randomness } = base;
  const documents = openDocuments(services, 'request');
  const agents = new DynamoCachingAgentStore({ documents, tableName: config.cacheTable, clock, randomness });
  return { ...base, agents };
}
