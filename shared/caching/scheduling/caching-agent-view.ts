import type { AgentView } from '#contract/answers/cache.ts';
import { type EndedRun, findRegion, isHeld, type StoredCachingAgent } from './caching-agent-store.ts';

/** The last run of an agent that ended. */
type LastRunView = NonNullable<AgentView['lastRun']>;

/** A caching agent as answers show it, with the progress of a run. @param monthlyUsd what its mode costs; left out where unpriced */
export function toCachingAgentView(agent: StoredCachingAgent, nowMs: number, monthlyUsd?: number): AgentView {
  const { account, name, lastRun, progress, asOfMs, lastError, mode } = agent;
  const lease = isHeld(agent, nowMs) ? agent.lease : undefined;
  const state = getState(agent, lease !== undefined, nowMs);
  return {
    id: `${account}/${name}`,
    provider: agent.provider,
    totalAdditions: progress?.items ?? lastRun?.items ?? 0,
    totalEvictions: 0,
    lastExecutionStartDate: lastRun && new Date(lastRun.startedAtMs).toISOString(),
    lastExecutionDurationMs: lastRun?.durationMs,
    details: progress?.details ?? lastRun?.details ?? {},
    account,
    name,
    region: findRegion(agent),
    intervalMs: agent.intervalMs,
    mode: mode?.mode,
    modeSince: mode?.sinceMs,
    modeReason: mode?.reason,
    monthlyUsd,
    state,
    isStale: agent.failures > 0 || state === 'overdue',
    lastRun: lastRun && toLastRunView(lastRun),
    asOf: asOfMs,
    ageMs: asOfMs === undefined ? undefined : Math.max(0, nowMs - asOfMs),
    failures: agent.failures,
    attempts: agent.attempts,
    lastError: lastError?.message,
    lastErrorTime: lastError?.atMs,
    leaseOwner: lease?.owner,
    leaseUntil: lease?.untilMs,
    nextRun: agent.nextRunMs,
    lastUsed: agent.usedAtMs,
    removed: agent.removedAtMs,
  };
}

function getState(agent: StoredCachingAgent, isHeld: boolean, nowMs: number): AgentView['state'] {
  if (agent.removedAtMs !== undefined) return 'removed';
  if (isHeld) return 'running';
  return agent.nextRunMs + 2 * agent.intervalMs < nowMs ? 'overdue' : 'waiting';
}

function toLastRunView(run: EndedRun): LastRunView {
  const { outcome, startedAtMs, durationMs, lagMs, items, changes, drift } = run;
  return { outcome, started: startedAtMs, durationMs, lagMs, items, changes, drift };
}
