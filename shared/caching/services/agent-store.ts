import { openDocuments } from '#platform/services/aws-clients.ts';
import { type BaseServices, openBase } from '#platform/services/base.ts';
import type { Services } from '#platform/services/services.ts';
import { DynamoAgentStore } from '../aws/agents/agent-store.ts';
import type { AgentStore } from '../scheduling/agent-store.ts';

/** What functions work with that look at agents, and at nothing else of the cache: no provider comes along. */
export interface AgentStoreServices extends BaseServices {
  readonly agents: AgentStore;
}

/** What functions work with that look at agents. */
export function openAgentStore(services: Services): AgentStoreServices {
  return services.get(createAgentStore);
}

function createAgentStore(services: Services): AgentStoreServices {
  const base = openBase(services);
  const { config, clock, randomness } = base;
  const documents = openDocuments(services, 'request');
  const agents = new DynamoAgentStore({ documents, tableName: config.cacheTable, clock, randomness });
  return { ...base, agents };
}
