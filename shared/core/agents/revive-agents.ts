import { earlyToleranceMs, getRetryDelayMs, getTurn } from './agent-schedule.ts';
import type { Agent } from './agent-store.ts';
import { type DueAgent, messageDelayMaxMs, toDueAgent } from './send-agents.ts';
import type { StaleMemory } from './stale-accounts.ts';

/** Milliseconds after which an agent is overdue that was not begun: its message was on its way till then. */
export const overdueAfterMs = 15_000;

/** Turns of the scheduler between two gatherings. */
export const gatheringTurns = 10;

/** Milliseconds after which an overdue agent is sent for again, when it has still not been begun: doubled up to 16 minutes. */
const sendAgainMs = { first: 50_000, most: 16 * 60_000 } as const;

/** What a process that schedules remembers. A new one knows nothing, and sends for everything once. */
export interface ScheduleMemory {
  /** Turns that it had. */
  turns: number;
  /** What it sent for since it was overdue, by agent. */
  readonly sent: Map<string, { readonly run: string; readonly atMs: number; readonly times: number }>;
  /** What it told of stale accounts. */
  readonly stale: StaleMemory;
}

/** The memory of a process that scheduled nothing yet. */
export function createScheduleMemory(): ScheduleMemory {
  return { turns: 0, sent: new Map(), stale: { told: '', turns: 0 } };
}

/** When, and what was sent for before. */
export interface PickOptions {
  readonly memory: ScheduleMemory;
  readonly nowMs: number;
}

/**
 * Agents to be sent for now, since they are new or overdue, each with when its message is to come. One that somebody runs may
 * have lost its worker: its message comes when the lease can be over. One that waits for a worker is sent for less and less
 * often, so that messages do not pile up.
 */
export function pickOverdue(agents: readonly Agent[], { memory, nowMs }: PickOptions): DueAgent[] {
  const overdue = agents.flatMap((agent) => {
    const comesMs = getRevivalMs(agent, nowMs);
    return comesMs === undefined ? [] : [{ agent, due: { ...toDueAgent(agent), nextRunMs: comesMs } }];
  });
  const before = new Map(memory.sent);
  memory.sent.clear();
  return overdue.flatMap(({ agent, due }) => {
    if (due.nextRunMs > nowMs) return [due];
    const id = JSON.stringify([agent.account, agent.name]);
    const run = `${agent.nextRunMs} ${agent.attempts}`;
    const last = before.get(id);
    const times = last?.run === run ? last.times : 0;
    const pauseMs = times === 0 ? 0 : Math.min(sendAgainMs.most, sendAgainMs.first * 2 ** (times - 1));
    const isSent = last === undefined || last.atMs + pauseMs <= nowMs;
    memory.sent.set(id, isSent ? { run, atMs: nowMs, times: times + 1 } : last);
    return isSent ? [due] : [];
  });
}

/**
 * Agents whose next run is near enough to send for it, in a process's first turn and in each tenth: messages fall apart, since
 * whoever runs alone sends for itself alone, and some get lost; these bring together again what runs at the same time. Of
 * several messages for a run the first one counts.
 */
export function pickUpcoming(agents: readonly Agent[], { memory, nowMs }: PickOptions): DueAgent[] {
  if (memory.turns % gatheringTurns !== 0) return [];
  return agents
    .map((agent) => toUpcoming(agent, nowMs))
    .filter((due) => due !== undefined)
    .filter(({ nextRunMs }) => nextRunMs <= nowMs + messageDelayMaxMs);
}

/** Its next run, or for one that is run about now the run after that: else those would never be gathered. */
function toUpcoming(agent: Agent, nowMs: number): DueAgent | undefined {
  const { attempts, lease, intervalMs } = agent;
  if (agent.nextRunMs > nowMs + earlyToleranceMs) return toDueAgent(agent);
  const isHeld = lease !== undefined && lease.untilMs > nowMs;
  const due = toDueAgent({ ...agent, attempts: isHeld ? attempts - 1 : attempts });
  return due.isAlone ? undefined : { ...due, nextRunMs: getTurn(agent, nowMs + intervalMs) };
}

/** When a message for the agent is to come; undefined when it needs none. */
function getRevivalMs(agent: Agent, nowMs: number): number | undefined {
  const { lease, attempts, nextRunMs, lastRun } = agent;
  const leaseEndsMs = lease?.untilMs ?? 0;
  // Workers died of it again and again: it comes less and less often.
  const pauseMs = attempts > 1 ? getRetryDelayMs(attempts - 1, 0) : 0;
  if (leaseEndsMs > nowMs) return pauseMs === 0 ? leaseEndsMs + earlyToleranceMs : undefined;
  const isNew = lastRun === undefined && attempts === 0;
  const dueMs = Math.max(nextRunMs + (isNew ? 0 : overdueAfterMs), leaseEndsMs + pauseMs);
  return dueMs <= nowMs ? nowMs : undefined;
}
