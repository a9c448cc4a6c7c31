import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  getNextRunMs,
  getTurn,
  idleAfterMs,
  idleIntervalMs,
  sentAheadMs,
} from '#caching/scheduling/caching-agent-schedule.ts';
import type { StoredCachingAgent } from '#caching/scheduling/caching-agent-store.ts';
import {
  overdueAfterMs,
  pickDueCachingAgents,
  type SentTurns,
} from '#caching/scheduling/due-caching-agents.ts';

const nowMs = 1_800_000_000_000;
const minuteMs = 60_000;

const ended = { outcome: 'SUCCESS', durationMs: 5, items: 1, changes: 0, startedAtMs: 0, lagMs: 0 } as const;

/** An agent in use whose last run went well, and whose next one is a turn to come. */
function describeAgent(changes: Partial<StoredCachingAgent> = {}): StoredCachingAgent {
  const agent = {
    ...{ account: 'prod', name: 'core', provider: 'kubernetes', intervalMs: 30_000, usedAtMs: nowMs },
    ...{ lastTurn: 0, attempts: 0, failures: 0, lastRun: ended },
    ...changes,
  };
  return { nextRunMs: getTurn(agent, nowMs + agent.intervalMs), ...agent };
}

/** When messages for an agent come of which nothing was sent, from now on. */
function pickTimes(agent: StoredCachingAgent): { overdue: number[]; turns: number[]; alone: number[] } {
  const { overdue, turns } = pickDueCachingAgents([agent], new Map(), nowMs);
  return {
    overdue: overdue.map(({ dueMs }) => dueMs - nowMs),
    turns: turns.map(({ dueMs }) => dueMs - nowMs),
    alone: [...overdue, ...turns].filter(({ isAlone }) => isAlone).map(({ dueMs }) => dueMs - nowMs),
  };
}

describe('the turns that are sent for', () => {
  it('are all there are, once each, whenever the scheduler comes and how often it is left out', () => {
    const agents = fc.record({
      account: fc.string(),
      intervalMs: fc.integer({ min: 1_000, max: 900_000 }),
      usedAtMs: fc.integer({ min: nowMs - idleAfterMs, max: nowMs + 10 * minuteMs }),
    });
    const pauses = fc.array(fc.integer({ min: 0, max: sentAheadMs }), { minLength: 3, maxLength: 20 });
    fc.assert(
      fc.property(agents, pauses, (given, pauses) => {
        let agent = describeAgent(given);
        let sent: SentTurns = new Map();
        let atMs = nowMs;
        const coming: number[] = [];
        for (const pauseMs of pauses) {
          const due = pickDueCachingAgents([agent], sent, atMs);
          expect(due.overdue).toEqual([]);
          coming.push(...due.turns.map(({ dueMs }) => dueMs));
          sent = due.sent;
          atMs += pauseMs;
          while ((coming[0] ?? atMs) < atMs) {
            const turn = coming.shift() ?? 0;
            expect(turn).toBe(agent.nextRunMs);
            const pace = { nowMs: turn, turn, usedAtMs: agent.usedAtMs, failures: 0, fraction: 0 };
            agent = { ...agent, lastTurn: turn, nextRunMs: getNextRunMs(agent, pace) };
          }
        }
      }),
    );
  });

  it('begin with one that is due at this moment and was not sent for', () => {
    const agent = describeAgent({ nextRunMs: nowMs });
    const due = pickDueCachingAgents([agent], new Map([['["prod","core"]', nowMs]]), nowMs);
    expect(due.overdue).toEqual([]);
    expect(due.turns.map(({ dueMs }) => dueMs - nowMs)[0]).toBe(0);
  });

  it('are those after the run that goes on, or is about to begin', () => {
    const turn = getTurn(describeAgent(), nowMs);
    const next = turn + 30_000 - nowMs;
    const all = [next, next + 30_000, next + 60_000, next + 90_000];
    expect(pickTimes(describeAgent()).turns).toEqual(all);
    const lease = { owner: 'a@b', untilMs: nowMs + 1_000 };
    expect(pickTimes(describeAgent({ nextRunMs: nowMs - 10_000, attempts: 1, lease })).turns).toEqual(all);
    const known = new Map([['["prod","core"]', nowMs]]);
    const due = pickDueCachingAgents([describeAgent({ nextRunMs: nowMs - 10_000 })], known, nowMs);
    expect(due.overdue).toEqual([]);
    expect(due.turns.map(({ dueMs }) => dueMs - nowMs)).toEqual(all);
  });

  it('are few where the account is idle, or stays so', () => {
    const idle = { usedAtMs: nowMs - idleAfterMs };
    expect(pickTimes(describeAgent({ ...idle, nextRunMs: nowMs + 7_000 })).turns).toEqual([7_000]);
    expect(pickTimes(describeAgent({ ...idle, nextRunMs: nowMs + idleIntervalMs })).turns).toEqual([]);
  });

  it('have the agent alone unless its last run went well', () => {
    const failed = { lastRun: { ...ended, outcome: 'FAILURE' } } as const;
    expect(pickTimes(describeAgent()).alone).toEqual([]);
    const { turns, alone } = pickTimes(describeAgent(failed));
    expect(alone).toEqual(turns);
    expect(pickTimes(describeAgent({ lastRun: undefined, nextRunMs: nowMs })).alone[0]).toBe(0);
  });
});

describe('an agent that is overdue', () => {
  /** The minutes after it was due in which a scheduler sends for it that comes each minute. */
  function listMinutes(agent: StoredCachingAgent, minutes: number): number[] {
    const sent = new Map([['["prod","core"]', nowMs]]);
    const times = Array.from({ length: minutes }, (_, minute) => nowMs + minute * minuteMs);
    return times.flatMap((atMs, minute) => {
      const { overdue, turns } = pickDueCachingAgents([agent], sent, atMs);
      expect(turns).toEqual([]);
      return overdue.length > 0 ? [minute] : [];
    });
  }

  it('is sent for at once, and then less and less often', () => {
    const agent = describeAgent({ nextRunMs: nowMs - overdueAfterMs });
    expect(listMinutes(agent, 60)).toEqual([0, 1, 2, 4, 8, 16, 32, 48]);
  });

  it('is sent for after its lease when its worker died, alone, and later each time that one dies', () => {
    const lease = { owner: 'dead@host', untilMs: nowMs };
    const left = describeAgent({ nextRunMs: nowMs - 60_000, attempts: 1, lease });
    expect(listMinutes(left, 4)).toEqual([1, 2, 3]);
    expect(pickTimes({ ...left, lease: { ...lease, untilMs: nowMs - 1_000 } })).toEqual({
      overdue: [0],
      turns: [],
      alone: [0],
    });
    expect(listMinutes({ ...left, attempts: 4 }, 4)).toEqual([2, 3]);
    expect(listMinutes({ ...left, attempts: 9 }, 12)).toEqual([6, 7, 8, 10]);
  });

  it('is sent for when its lease ends while somebody seems to run it', () => {
    const lease = { owner: 'dead@host', untilMs: nowMs + 40_000 };
    const left = describeAgent({ nextRunMs: nowMs - overdueAfterMs, attempts: 1, lease });
    expect(pickTimes(left).overdue).toEqual([]);
    expect(pickTimes(left).alone).toEqual([41_000]);
    expect(pickTimes({ ...left, attempts: 2 }).alone).toEqual([56_000]);
    expect(pickTimes({ ...left, attempts: 9 }).alone).toEqual([]);
    expect(pickTimes({ ...left, nextRunMs: nowMs - overdueAfterMs + 1 }).alone).toEqual([]);
  });
});
