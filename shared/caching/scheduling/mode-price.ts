import { getPaceMs } from './caching-agent-schedule.ts';
import { isHeld, type StoredCachingAgent } from './caching-agent-store.ts';

/**
 * US dollars a month in AWS, by the list prices and assumptions of `infra/tools/cost`: a worker that watches, the progress that it stores of an
 * agent, and turns every 30 seconds of an agent.
 */
export const modePrices = { worker: 61.14, progress: 0.32, turns: 0.57 } as const;

/** The interval of which the price of turns is, milliseconds. */
const pricedIntervalMs = 30_000;

/**
 * Estimates, for each of all agents, the US dollars a month that it costs to find out what changes, as long as the agent is in its mode and
 * as much used as now: its share of the worker that watches it, or its turns. What changes and checks cost is the same in both, and not
 * in it. Undefined for one without a mode.
 */
export function createPriceList(
  agents: readonly StoredCachingAgent[],
  nowMs: number,
): (agent: StoredCachingAgent) => number | undefined {
  const held = Map.groupBy(
    agents.filter((agent) => isHeld(agent, nowMs)),
    ({ lease }) => lease?.owner,
  );
  return (agent) => {
    if (agent.mode === undefined) return undefined;
    const together = (isHeld(agent, nowMs) && held.get(agent.lease?.owner)?.length) || 1;
    const dollars =
      agent.mode.mode === 'stream'
        ? modePrices.worker / together + modePrices.progress
        : modePrices.turns * (pricedIntervalMs / getPaceMs(agent, nowMs));
    return Math.round(dollars * 100) / 100;
  };
}
