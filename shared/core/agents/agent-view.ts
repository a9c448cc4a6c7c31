import type { Agent, EndedRun } from './agent-store.ts';

/** When something happened or will: epoch milliseconds. */
type Time = number;

/** The last run of an agent that ended. */
export interface LastRunView {
  readonly outcome: EndedRun['outcome'];
  readonly started: Time;
  readonly durationMs: number;
  /** By how much it began later than it was due. */
  readonly lagMs: number;
  /** Things that the agent knows of. */
  readonly items: number;
  /** Things that the run put or removed. */
  readonly changes: number;
  /** Things that a check of the whole cache found wrong; absent when the run made none. */
  readonly drift?: number | undefined;
}

/** An agent, as `GET /cache/introspection` shows it. The first seven members are Clouddriver's. */
export interface AgentView {
  /** `prod/KubernetesCoreCachingAgent[1/1]`. */
  readonly id: string;
  readonly provider: string;
  /** Things that it knows of. */
  readonly totalAdditions: number;
  /** Always 0: additions and evictions are counted together, as `changes`. */
  readonly totalEvictions: number;
  /** ISO 8601, in UTC; absent before the first run ended, like the next one. */
  readonly lastExecutionStartDate?: string | undefined;
  readonly lastExecutionDurationMs?: number | undefined;
  /** What an operator may want to know besides. */
  readonly details: NonNullable<EndedRun['details']>;
  readonly account: string;
  readonly name: string;
  /** Milliseconds between two runs while its account is used. */
  readonly intervalMs: number;
  /** `running` under a lease, `waiting` for its next run, `overdue` by more than two intervals, `removed` from the configuration. */
  readonly state: 'running' | 'waiting' | 'overdue' | 'removed';
  /** Whether the cache may be further behind than `asOf` tells: its last run failed, or it is overdue. */
  readonly isStale: boolean;
  readonly lastRun?: LastRunView | undefined;
  /** Everything that was so at this time is cached; absent until a run told. */
  readonly asOf?: Time | undefined;
  readonly ageMs?: number | undefined;
  /** Runs that failed since one succeeded. */
  readonly failures: number;
  /** Times that it was begun since a run last ended: more than one tells that workers died of it. */
  readonly attempts: number;
  /** The last failure; later successes leave it here. */
  readonly lastError?: string | undefined;
  readonly lastErrorTime?: Time | undefined;
  /** Who runs it, and until when that holds unless it is renewed. */
  readonly leaseOwner?: string | undefined;
  readonly leaseUntil?: Time | undefined;
  readonly nextRun: Time;
  /** When its account was last read or deployed to. */
  readonly lastUsed: Time;
  readonly removed?: Time | undefined;
}

/** An agent as people see it. Of a run that goes on and tells how far it has come, that counts. */
export function toAgentView(agent: Agent, nowMs: number): AgentView {
  const { account, name, lastRun, progress, asOfMs, lastError } = agent;
  const lease = agent.lease !== undefined && agent.lease.untilMs > nowMs ? agent.lease : undefined;
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
    intervalMs: agent.intervalMs,
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

function getState(agent: Agent, isHeld: boolean, nowMs: number): AgentView['state'] {
  if (agent.removedAtMs !== undefined) return 'removed';
  if (isHeld) return 'running';
  return agent.nextRunMs + 2 * agent.intervalMs < nowMs ? 'overdue' : 'waiting';
}

function toLastRunView(run: EndedRun): LastRunView {
  const { outcome, startedAtMs, durationMs, lagMs, items, changes, drift } = run;
  return { outcome, started: startedAtMs, durationMs, lagMs, items, changes, drift };
}
