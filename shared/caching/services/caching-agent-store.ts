import { openDocuments } from '#platform/services/aws-clients.ts';
import { type BaseServices, openBase } from '#platform/services/base.ts';
import type { Services } from '#platform/services/services.ts';
import { DynamoCachingAgentStore } from '../aws/agents/caching-agent-store.ts';
import type { CachingAgentStore } from '../scheduling/caching-agent-store.ts';

/** What functions work with that look at agents, and at nothing else of the cache: no provider comes along. */
export interface CachingAgentStoreServices extends BaseServices {
  readonly agents: CachingAgentStore;
}

/** What functions work with that look at agents. */
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
