import { earlyToleranceMs, getNextRunMs, getRetryDelayMs, sentAheadMs } from './caching-agent-schedule.ts';
import { isHeld, type StoredCachingAgent, toCachingAgentId } from './caching-agent-store.ts';
import type { DueCachingAgent } from './send-caching-agents.ts';

/** Milliseconds after which a caching agent that was not begun is overdue: until then its message may be on its way. */
export const overdueAfterMs = 15_000;

/** Minutes between two messages for a caching agent that stays overdue, at most. */
const pauseMinutesMax = 16;

/** Up to when a process has sent for the turns of each caching agent, by id. A new process has sent none, and sends for everything. */
export type SentTurns = ReadonlyMap<string, number>;

/** Caching agents to send for. */
export interface DueCachingAgents {
  /** Those with turns to come. */
  readonly turns: readonly DueCachingAgent[];
  /** Those that are new, overdue or left by dead workers: they are due now. */
  readonly overdue: readonly DueCachingAgent[];
  /** Up to when turns have then been sent for. */
  readonly sent: SentTurns;
}

/**
 * The turns of caching agents that begin within the next two minutes and were not sent for, as they come if all runs succeed in time.
 * Otherwise claims refuse the superfluous ones, and none is missing: a failed caching agent runs next at one of the turns.
 *
 * An overdue caching agent is sent for now, and then less and less often: while workers are too few messages do not pile up.
 */
export function pickDueCachingAgents(
  agents: readonly StoredCachingAgent[],
  before: SentTurns,
  nowMs: number,
): DueCachingAgents {
  const turns: DueCachingAgent[] = [];
  const overdue: DueCachingAgent[] = [];
  const sent = new Map<string, number>();
  for (const agent of agents) {
    const id = toCachingAgentId(agent);
    const isNew = !before.has(id);
    const sentUntilMs = before.get(id) ?? nowMs;
    const isRun = isHeld(agent, nowMs);
    const isLeft = agent.attempts > 0 && !isRun;
    const againMs = getAgainMs(agent);
    const lateMs = nowMs - (isLeft ? againMs : agent.nextRunMs + (isNew && !isRun ? 0 : overdueAfterMs));
    const isOverdue = lateMs >= 0 && !isRun;
    if (isOverdue && (isNew || isSentFor(lateMs))) overdue.push(toDueAgent(agent, nowMs, isLeft));
    // A long run. If its worker lives, it renews the lease until then.
    if (isRun && lateMs >= 0 && againMs < nowMs + sentAheadMs) turns.push(toDueAgent(agent, againMs, true));
    const isWaiting = isLeft || (isOverdue && !isNew);
    sent.set(id, isWaiting ? sentUntilMs : nowMs + sentAheadMs);
    if (!isWaiting)
      turns.push(
        ...listTurns(agent, { fromMs: Math.max(nowMs, sentUntilMs), nowMs, hasBegun: isRun || isOverdue }),
      );
  }
  return { turns, overdue, sent };
}

/** The turns of a caching agent from a time on, up to two minutes from now. */
function listTurns(
  agent: StoredCachingAgent,
  { fromMs, nowMs, hasBegun }: { fromMs: number; nowMs: number; hasBegun: boolean },
): DueCachingAgent[] {
  const { usedAtMs, nextRunMs } = agent;
  const getNext = (turn: number): number =>
    getNextRunMs(agent, { nowMs: turn, turn, usedAtMs, failures: 0, fraction: 0 });
  const turns: DueCachingAgent[] = [];
  // Whether it is running or about to be, the next turn is the one after that.
  let turn = hasBegun || nextRunMs < nowMs ? getNext(nowMs) : nextRunMs;
  for (; turn < nowMs + sentAheadMs; turn = getNext(turn)) {
    if (turn >= fromMs) turns.push(toDueAgent(agent, turn));
  }
  return turns;
}

/** Only a caching agent whose last run succeeded shares its worker with others. */
function toDueAgent(
  { account, name, lastRun }: StoredCachingAgent,
  dueMs: number,
  isAlone = false,
): DueCachingAgent {
  return { account, name, dueMs, isAlone: isAlone || lastRun?.outcome !== 'SUCCESS' };
}

/** When to begin a caching agent again whose worker dies: at the end of its lease, or with growing delays after the first time. */
function getAgainMs({ nextRunMs, lease, attempts }: StoredCachingAgent): number {
  const pauseMs = attempts > 1 ? getRetryDelayMs(attempts - 1, 0) : 0;
  return Math.max(nextRunMs, (lease?.untilMs ?? 0) + earlyToleranceMs + pauseMs);
}

/** Whether to send in this minute for a caching agent overdue for this long: at once, after 1, 2, 4 and 8 minutes, then each 16. */
function isSentFor(overdueMs: number): boolean {
  const minutes = Math.floor(overdueMs / 60_000);
  return minutes < pauseMinutesMax
    ? Number.isInteger(Math.log2(Math.max(1, minutes)))
    : minutes % pauseMinutesMax === 0;
}
