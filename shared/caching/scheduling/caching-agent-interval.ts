import { getPath, type JsonObject } from '#core/json.ts';

/** Seconds between two runs of an agent that may be asked for. */
export const cachingAgentIntervalSeconds = { least: 10, most: 3600 } as const;

/** Where Clouddriver looks, in its two forms of storage. */
const places = [
  ['sql', 'agent', 'poll', 'intervalSeconds'],
  ['redis', 'poll', 'intervalSeconds'],
] as const;

/** Whether agents may run so many seconds apart. */
export function isCachingAgentInterval(seconds: number): boolean {
  const { least, most } = cachingAgentIntervalSeconds;
  return Number.isInteger(seconds) && seconds >= least && seconds <= most;
}

/**
 * Milliseconds between two runs of an agent as Spinnaker's settings have it for all accounts: `sql.agent.poll.intervalSeconds`, else
 * `redis.poll.intervalSeconds`. Undefined when neither is there, or is nothing from 10 to 3600.
 */
export function findIntervalMs(settings: JsonObject): number | undefined {
  const given = places.map((path) => Number(getPath(settings, ...path) ?? Number.NaN));
  const seconds = given.find(isCachingAgentInterval);
  return seconds === undefined ? undefined : seconds * 1000;
}
