import { DynamoAgentStore } from '../../aws/agents/agent-store.ts';
import type { AgentStore } from '../../core/agents/agent-store.ts';
import { openDocuments } from './aws-clients.ts';
import { type BaseContext, openBaseContext } from './base-context.ts';

/** What functions work with that look at agents, and at nothing else of the cache: no provider comes along. */
export interface AgentStoreContext extends BaseContext {
  readonly agents: AgentStore;
}

let opened: AgentStoreContext | undefined;

/** The context of this process, made from its environment on first use and shared from then on. */
export function openAgentStoreContext(): AgentStoreContext {
  opened ??= createAgentStoreContext(openBaseContext());
  return opened;
}

function createAgentStoreContext(base: BaseContext): AgentStoreContext {
  const { config, clock, randomness } = base;
  const options = {
    documents: openDocuments(config, 'request'),
    tableName: config.cacheTable,
    clock,
    randomness,
  };
  return { ...base, agents: new DynamoAgentStore(options) };
}
