import { getPaceMs } from './caching-agent-schedule.ts';
import { isHeld, type StoredCachingAgent } from './caching-agent-store.ts';

/**
 * US dollars a month in AWS, by the list prices and assumptions of `infra/tools/cost`: of a worker that watches, and of one caching agent
 * its stored progress, or its turns every 30 seconds.
 */
export const modePrices = { worker: 61.14, progress: 0.32, turns: 0.57 } as const;

/** The interval for which the price of turns holds, milliseconds. */
const pricedIntervalMs = 30_000;

/**
 * Estimates for each caching agent the US dollars a month that finding changes costs while its mode and use stay the same: its share of the
 * worker that watches it, or its turns. Changes and checks cost the same in both modes, and are left out. Undefined for one without a mode.
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
