import { type CallKind, openDocuments } from '#platform/services/aws-clients.ts';
import { type BaseServices, openBase } from '#platform/services/base.ts';
import type { Services } from '#platform/services/services.ts';
import { plugins } from '#providers/index.ts';
import { DynamoCachingAgentStore } from '../aws/agents/caching-agent-store.ts';
import { createCacheStore } from '../aws/store/cache-store.ts';
import type { CachingAgentQueue } from '../scheduling/caching-agent-queue.ts';
import type { CachingAgentStore } from '../scheduling/caching-agent-store.ts';
import type { CacheStore } from '../store/cache-store.ts';
import { createLateCachingAgentQueue } from './late-caching-agent-queue.ts';

/** What functions that deal with the cache work with. */
export interface CacheServices extends BaseServices {
  readonly cache: CacheStore;
  readonly agents: CachingAgentStore;
  readonly agentQueue: CachingAgentQueue;
}

/** What functions that deal with the cache work with. @param kind the kind of caller that waits for the store's calls */
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
    agents: new DynamoCachingAgentStore(options),
    agentQueue: createLateCachingAgentQueue(services),
  };
}
