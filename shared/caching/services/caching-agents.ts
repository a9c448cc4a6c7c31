import type { Meter } from '#core/meter.ts';
import { openLateBus } from '#platform/services/late-bus.ts';
import { openMeter } from '#platform/services/meter.ts';
import type { Services } from '#platform/services/services.ts';
import type { EndedTurn } from '../scheduling/run-turn.ts';
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
  const meter = openMeter(services);
  const recordRuns = (runs: readonly EndedTurn[]): void => {
    for (const run of runs) measureRun(meter, run);
  };
  return { ...cache, ...metrics, recordRuns, bus: openLateBus(services) };
}

/** Watching is no part of how long a run took. */
function measureRun(meter: Meter, { agent: { account, name, lastRun }, lagMs }: EndedTurn): void {
  if (lastRun === undefined) return;
  const agent = `${account}/${name}`;
  meter.record('executionCount', { agent, status: lastRun.outcome.toLowerCase() });
  meter.record('executionTime', { agent }, lastRun.durationMs / 1_000);
  meter.record('cache_drift', { agent }, lagMs);
}
