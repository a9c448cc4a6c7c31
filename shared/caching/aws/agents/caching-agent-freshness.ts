import {
  type AccountFreshness,
  countTooLarge,
  isCaching,
  isHeld,
  type StoredCachingAgent,
} from '../../scheduling/caching-agent-store.ts';

/** How fresh the account of these caching agents is. Those that cache nothing count only where there are no others. */
export function toFreshness(all: readonly StoredCachingAgent[], nowMs: number): AccountFreshness {
  const caching = all.filter(isCaching);
  const agents = caching.length > 0 ? caching : all;
  const tries = agents.map(({ lastRun }) =>
    lastRun?.outcome === 'STOPPED' ? undefined : lastRun?.startedAtMs,
  );
  const isOverdue = ({ nextRunMs, intervalMs }: StoredCachingAgent): boolean =>
    nextRunMs + 2 * intervalMs < nowMs;
  return {
    asOfMs: getLeast(agents.map(({ asOfMs }) => asOfMs)),
    isStale: agents.some((agent) => agent.failures > 0 || (!isHeld(agent, nowMs) && isOverdue(agent))),
    triedAtMs: getLeast(tries),
    tooLarge: agents.reduce((sum, agent) => sum + countTooLarge(agent), 0),
    agents: agents.map((agent) => {
      const { account, name, mode, lease } = agent;
      const isWatched = mode?.mode === 'stream' && isHeld(agent, nowMs);
      return isWatched ? { account, name, watchedBy: lease?.owner } : { account, name };
    }),
  };
}

/** The least of the times, if all are known. */
function getLeast(times: readonly (number | undefined)[]): number | undefined {
  const known = times.filter((time) => time !== undefined);
  return known.length < times.length ? undefined : Math.min(...known);
}
