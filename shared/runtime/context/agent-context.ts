import type { AgentSystem } from '../../core/agents/run-agents.ts';
import { type AgentMetrics, createAgentMetrics } from './agent-metrics.ts';
import { type CacheContext, openCacheContext } from './cache-context.ts';
import { openLateBus } from './late-bus.ts';

/** What functions that run and schedule agents work with. */
export interface AgentContext extends CacheContext, AgentSystem, AgentMetrics {}

let opened: AgentContext | undefined;

/** The context of this process, made from its environment on first use and shared from then on. */
export function openAgentContext(): AgentContext {
  opened ??= createAgentContext(openCacheContext('work'));
  return opened;
}

function createAgentContext(context: CacheContext): AgentContext {
  const { config, clock } = context;
  const metrics = createAgentMetrics({ clock, logLevel: config.logLevel });
  return { ...context, ...metrics, bus: openLateBus(context) };
}
