import { type CallKind, openDocuments } from '#platform/services/aws-clients.ts';
import { type BaseServices, openBase } from '#platform/services/base.ts';
import type { Services } from '#platform/services/services.ts';
import { plugins } from '#providers/index.ts';
import { DynamoAgentStore } from '../aws/agents/agent-store.ts';
import { createCacheStore } from '../aws/store/cache-store.ts';
import type { AgentQueue } from '../scheduling/agent-queue.ts';
import type { AgentStore } from '../scheduling/agent-store.ts';
import type { CacheStore } from '../store/cache-store.ts';
import { createLateAgentQueue } from './late-agent-queue.ts';

/** What functions that deal with the cache work with. */
export interface CacheServices extends BaseServices {
  readonly cache: CacheStore;
  readonly agents: AgentStore;
  readonly agentQueue: AgentQueue;
}

/**
 * What functions that deal with the cache work with.
 *
 * @param kind who waits for the calls of the store
 */
export function openCache(services: Services, kind: CallKind): CacheServices {
  return services.get(createCache, kind);
}

function createCache(services: Services, kind: CallKind): CacheServices {
  const base = openBase(services);
  const { config, clock, randomness, remembered, log } = base;
  const documents = openDocuments(services, kind);
  const options = { documents, tableName: config.cacheTable, clock, randomness, log };
  const codecs = Object.assign({}, ...plugins.map(({ rowCodecs }) => rowCodecs));
  return {
    ...base,
    cache: createCacheStore({ ...options, codecs, remembered }),
    agents: new DynamoAgentStore(options),
    agentQueue: createLateAgentQueue(services),
  };
}
