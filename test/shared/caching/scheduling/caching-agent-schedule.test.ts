import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  earlyToleranceMs,
  getClaimableTurn,
  getNextRunMs,
  getRetryDelayMs,
  getTurn,
  idleAfterMs,
  idleIntervalMs,
  retryDelayMs,
} from '#caching/scheduling/caching-agent-schedule.ts';

const intervalMs = 30_000;
const nowMs = 1_800_000_000_000;
const agent = { account: 'prod', name: 'core', intervalMs };
const well = { nowMs, turn: getTurn(agent, nowMs), usedAtMs: nowMs, failures: 0, fraction: 0.5 };

const agents = fc.record({
  account: fc.string(),
  name: fc.string(),
  intervalMs: fc.integer({ min: 1_000, max: 3_600_000 }),
});
const times = fc.integer({ min: nowMs, max: nowMs + 1e9 });

describe('turns', () => {
  it('watch each other at the interval, without a gap', () => {
    fc.assert(
      fc.property(agents, times, (any, atMs) => {
        const turn = getTurn(any, atMs);
        expect(turn).toBeLessThanOrEqual(atMs);
        expect(turn).toBeGreaterThan(atMs - any.intervalMs);
        expect(getTurn(any, turn)).toBe(turn);
        expect(getTurn(any, turn + any.intervalMs)).toBe(turn + any.intervalMs);
      }),
    );
  });

  it('of many agents begin at six times, five seconds apart, and at each about as many', () => {
    const turns = Array.from({ length: 600 }, (_, index) =>
      getTurn({ ...agent, account: `account-${index}` }, nowMs),
    );
    const slots = Map.groupBy(turns, (turn) => turn);
    const begins = [...slots.keys()].sort();
    expect(begins.map((turn) => turn - (begins[0] ?? 0))).toEqual([0, 5_000, 10_000, 15_000, 20_000, 25_000]);
    for (const [, alike] of slots) expect(Math.abs(alike.length - 100)).toBeLessThan(35);
  });

  it('can be claimed a second early', () => {
    const next = getTurn(agent, nowMs) + intervalMs;
    expect(getClaimableTurn(agent, next - 900)).toBe(next);
    expect(getClaimableTurn(agent, next - 1_100)).toBe(next - intervalMs);
  });
});

describe('the next run', () => {
  it('is the next turn, whatever the run took', () => {
    expect(getNextRunMs(agent, well)).toBe(getTurn(agent, nowMs) + intervalMs);
  });

  it('is the turn after one that was taken early, and was over before it began', () => {
    const turn = getTurn(agent, nowMs) + intervalMs;
    const earlyMs = turn - earlyToleranceMs + 1;
    expect(getClaimableTurn(agent, earlyMs)).toBe(turn);
    expect(getNextRunMs(agent, { ...well, turn, nowMs: earlyMs })).toBe(turn + intervalMs);
  });

  it('is five minutes away once the account was not used for 15 minutes', () => {
    const idle = { ...well, usedAtMs: nowMs - idleAfterMs };
    expect(getNextRunMs(agent, idle)).toBe(getTurn(agent, nowMs) + idleIntervalMs);
    expect(getNextRunMs(agent, { ...idle, usedAtMs: nowMs - idleAfterMs + 1 })).toBeLessThan(
      nowMs + intervalMs + 1,
    );
  });

  it('comes no sooner for an idle account whose interval is longer than that', () => {
    const slow = { ...agent, intervalMs: 600_000 };
    expect(getNextRunMs(slow, { ...well, usedAtMs: 0 })).toBeGreaterThan(nowMs);
    expect(getNextRunMs(slow, { ...well, usedAtMs: 0 })).toBe(getNextRunMs(slow, well));
  });

  it('is always the beginning of a turn that is still to come', () => {
    const options = fc.record({
      nowMs: times,
      turn: fc.integer({ min: 0, max: nowMs }),
      usedAtMs: fc.integer({ min: 0, max: nowMs }),
      failures: fc.nat(20),
      fraction: fc.double({ min: 0, max: 1, noNaN: true }),
    });
    fc.assert(
      fc.property(agents, options, (any, how) => {
        const next = getNextRunMs(any, how);
        expect(next).toBeGreaterThan(how.nowMs);
        expect(getTurn(any, next)).toBe(next);
        const longest = Math.max(any.intervalMs, idleIntervalMs, retryDelayMs.most);
        expect(next).toBeLessThanOrEqual(how.nowMs + longest);
      }),
    );
  });

  it('is delayed more and more by failures, up to ten minutes, at random', () => {
    const delays = [1, 2, 3, 4, 5, 6, 7, 100].map((failures) => getRetryDelayMs(failures, 1) / 1000);
    expect(delays).toEqual([30, 60, 120, 240, 480, 600, 600, 600]);
    expect(getRetryDelayMs(3, 0)).toBe(60_000);
  });
});
