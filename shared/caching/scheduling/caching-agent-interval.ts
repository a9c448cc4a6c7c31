import { getPath, type JsonObject } from '#core/json.ts';

/** Seconds that settings may ask for between two runs of a caching agent. */
export const cachingAgentIntervalSeconds = { least: 10, most: 3600 } as const;

/** Where Clouddriver looks, for each of its two kinds of storage. */
const places = [
  ['sql', 'agent', 'poll', 'intervalSeconds'],
  ['redis', 'poll', 'intervalSeconds'],
] as const;

/** Whether caching agents may run this many seconds apart. */
export function isCachingAgentInterval(seconds: number): boolean {
  const { least, most } = cachingAgentIntervalSeconds;
  return Number.isInteger(seconds) && seconds >= least && seconds <= most;
}

/**
 * Milliseconds between two runs of a caching agent as Spinnaker's settings give it for all accounts: `sql.agent.poll.intervalSeconds`, else
 * `redis.poll.intervalSeconds`. Undefined when neither is there, or it is not a number from 10 to 3600.
 */
export function findIntervalMs(settings: JsonObject): number | undefined {
  const given = places.map((path) => Number(getPath(settings, ...path) ?? Number.NaN));
  const seconds = given.find(isCachingAgentInterval);
  return seconds === undefined ? undefined : seconds * 1000;
}
