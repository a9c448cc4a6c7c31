import { DynamoAgentStore } from '../../aws/agents/agent-store.ts';
import { createCacheStore } from '../../aws/cache/cache-store.ts';
import type { AgentQueue } from '../../core/agents/agent-queue.ts';
import type { AgentStore } from '../../core/agents/agent-store.ts';
import type { CacheStore } from '../../core/cache/cache-store.ts';
import { plugins } from '../../providers/index.ts';
import { type CallKind, openDocuments } from './aws-clients.ts';
import { type BaseContext, openBaseContext } from './base-context.ts';
import { createLateAgentQueue } from './late-agent-queue.ts';

/** What functions that deal with the cache work with. */
export interface CacheContext extends BaseContext {
  readonly cache: CacheStore;
  readonly agents: AgentStore;
  readonly agentQueue: AgentQueue;
}

const opened = new Map<CallKind, CacheContext>();

/**
 * The context of this process, made from its environment on first use and shared from then on.
 *
 * @param kind who waits for the calls of the store
 */
export function openCacheContext(kind: CallKind): CacheContext {
  const context = opened.get(kind) ?? createCacheContext(openBaseContext(), kind);
  opened.set(kind, context);
  return context;
}

function createCacheContext(base: BaseContext, kind: CallKind): CacheContext {
  const { config, clock, randomness } = base;
  const options = { documents: openDocuments(config, kind), tableName: config.cacheTable, clock, randomness };
  const codecs = Object.assign({}, ...plugins.map(({ rowCodecs }) => rowCodecs));
  return {
    ...base,
    cache: createCacheStore({ ...options, codecs }),
    agents: new DynamoAgentStore(options),
    agentQueue: createLateAgentQueue(config),
  };
}
