import { openLateBus } from '#platform/services/late-bus.ts';
import type { Services } from '#platform/services/services.ts';
import type { CachingAgentSystem } from '../scheduling/run-turns.ts';
import { type CacheServices, openCache } from './cache.ts';
import { type CachingAgentMetrics, createCachingAgentMetrics } from './caching-agent-metrics.ts';

/** What functions that run and schedule agents work with. */
export interface CachingAgentServices extends CacheServices, CachingAgentSystem, CachingAgentMetrics {}

/** What functions that run and schedule agents work with. */
export function openCachingAgents(services: Services): CachingAgentServices {
  return services.get(createAgents);
}

function createAgents(services: Services): CachingAgentServices {
  const cache = openCache(services, 'work');
  const { config, clock } = cache;
  const { environment } = services;
  const metrics = createCachingAgentMetrics({ clock, logLevel: config.logLevel, environment });
  return { ...cache, ...metrics, bus: openLateBus(services) };
}
