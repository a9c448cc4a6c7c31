import { openLateBus } from '#platform/services/late-bus.ts';
import type { Services } from '#platform/services/services.ts';
import type { AgentSystem } from '../scheduling/run-agents.ts';
import { type AgentMetrics, createAgentMetrics } from './agent-metrics.ts';
import { type CacheServices, openCache } from './cache.ts';

/** What functions that run and schedule agents work with. */
export interface AgentServices extends CacheServices, AgentSystem, AgentMetrics {}

/** What functions that run and schedule agents work with. */
export function openAgents(services: Services): AgentServices {
  return services.get(createAgents);
}

function createAgents(services: Services): AgentServices {
  const cache = openCache(services, 'work');
  const { config, clock } = cache;
  const { environment } = services;
  const metrics = createAgentMetrics({ clock, logLevel: config.logLevel, environment });
  return { ...cache, ...metrics, bus: openLateBus(services) };
}
