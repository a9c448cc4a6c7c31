import { earlyToleranceMs, getNextRunMs, getRetryDelayMs, sentAheadMs } from './caching-agent-schedule.ts';
import { isHeld, type StoredCachingAgent, toCachingAgentId } from './caching-agent-store.ts';
import type { DueCachingAgent } from './send-caching-agents.ts';

/** Milliseconds after which an agent is overdue that nobody began to run: its message was on its way till then. */
export const overdueAfterMs = 15_000;

/** Minutes between two messages for an agent that stays overdue, at most. */
const pauseMinutesMax = 16;

/** Up to when a process has sent for the turns of each agent, by id. A process that has just begun has not, and sends for everything. */
export type SentTurns = ReadonlyMap<string, number>;

/** Agents to send for. */
export interface DueCachingAgents {
  /** With their turns to come. */
  readonly turns: readonly DueCachingAgent[];
  /** Those that are new, overdue or left by workers that died: they are due now. */
  readonly overdue: readonly DueCachingAgent[];
  /** Up to when turns are sent for then. */
  readonly sent: SentTurns;
}

/**
 * The turns of agents that begin within the next two minutes and were not sent for: as they come if all runs end well and in time.
 * What comes of them otherwise is refused by claims, and nothing is missing: an agent that fails has its next run at one of the turns.
 *
 * Who is overdue is sent for now, and then less and less often: while workers are too few messages do not pile up.
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
    // It is run for long. If its worker lives, he renews the lease till then.
    if (isRun && lateMs >= 0 && againMs < nowMs + sentAheadMs) turns.push(toDueAgent(agent, againMs, true));
    const isWaiting = isLeft || (isOverdue && !isNew);
    sent.set(id, isWaiting ? sentUntilMs : nowMs + sentAheadMs);
    if (!isWaiting)
      turns.push(...listTurns(agent, { fromMs: Math.max(nowMs, sentUntilMs), nowMs, isHeld: isRun }));
  }
  return { turns, overdue, sent };
}

/** The turns of an agent from a time on, up to two minutes from now. */
function listTurns(
  agent: StoredCachingAgent,
  { fromMs, nowMs, isHeld }: { fromMs: number; nowMs: number; isHeld: boolean },
): DueCachingAgent[] {
  const { usedAtMs, nextRunMs } = agent;
  const getNext = (turn: number): number =>
    getNextRunMs(agent, { nowMs: turn, turn, usedAtMs, failures: 0, fraction: 0 });
  const turns: DueCachingAgent[] = [];
  // Whether it is run now, or about to be: what comes then is the turn after that.
  let turn = isHeld || nextRunMs <= nowMs ? getNext(nowMs) : nextRunMs;
  for (; turn < nowMs + sentAheadMs; turn = getNext(turn)) {
    if (turn >= fromMs) turns.push(toDueAgent(agent, turn));
  }
  return turns;
}

/** Only an agent whose last run went well shares its worker with others. */
function toDueAgent(
  { account, name, lastRun }: StoredCachingAgent,
  dueMs: number,
  isAlone = false,
): DueCachingAgent {
  return { account, name, dueMs, isAlone: isAlone || lastRun?.outcome !== 'SUCCESS' };
}

/** When an agent is to be begun again whose worker dies: at the end of its lease; when that is not the first one, later and later. */
function getAgainMs({ nextRunMs, lease, attempts }: StoredCachingAgent): number {
  const pauseMs = attempts > 1 ? getRetryDelayMs(attempts - 1, 0) : 0;
  return Math.max(nextRunMs, (lease?.untilMs ?? 0) + earlyToleranceMs + pauseMs);
}

/** Whether an agent is sent for in this minute that is overdue for so long: at once, after 1, 2, 4 and 8 minutes, then each 16. */
function isSentFor(overdueMs: number): boolean {
  const minutes = Math.floor(overdueMs / 60_000);
  return minutes < pauseMinutesMax
    ? Number.isInteger(Math.log2(Math.max(1, minutes)))
    : minutes % pauseMinutesMax === 0;
}
