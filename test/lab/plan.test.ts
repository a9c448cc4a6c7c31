import { describe, expect, it } from 'vitest';
import { drawClockOffset, planRun, processCount } from './plan.ts';

const options = { seed: 5, durationMs: 600_000, chains: 200, kills: 30 };

describe('the plan of a run', () => {
  it('is the same for the same seed, and another one for another', () => {
    expect(planRun(options)).toEqual(planRun(options));
    expect(planRun({ ...options, seed: 6 })).not.toEqual(planRun(options));
    expect(drawClockOffset(5, { process: 1, start: 2 })).toBe(drawClockOffset(5, { process: 1, start: 2 }));
  });

  it('has all that is asked for, while things go wrong', () => {
    const { beginnings, kills, freezes, silences, clockSteps, lapses, fills, holds } = planRun(options);
    expect(beginnings).toHaveLength(200);
    expect(kills).toHaveLength(30);
    expect(kills.filter(({ isAfterWrite }) => isAfterWrite)).toHaveLength(15);
    expect(freezes).toHaveLength(15);
    expect(new Set(kills.map(({ process }) => process)).size).toBe(processCount);
    expect(new Set(silences.map(({ service, mode }) => `${service} ${mode}`)).size).toBe(6);
    expect(new Set(clockSteps.map(({ process, byMs }) => `${process} ${byMs}`)).size).toBe(2 * processCount);
    expect(lapses.length).toBeGreaterThan(2);
    expect([fills.length, holds.length]).toEqual([1, 200]);
    const times = [
      ...[...beginnings, ...fills],
      ...[...kills, ...freezes, ...clockSteps, ...lapses].map(({ atMs }) => atMs),
      ...silences.map(({ fromMs }) => fromMs),
    ];
    expect(Math.min(...times)).toBeGreaterThanOrEqual(0);
    expect(Math.max(...times)).toBeLessThan(options.durationMs);
  });

  it('has processes stand still for longer than a lease holds, and clocks be off either way', () => {
    expect(planRun(options).freezes.filter(({ ms }) => ms > 30_000)).not.toEqual([]);
    const offsets = Array.from({ length: 100 }, (_, start) => drawClockOffset(1, { process: 0, start }));
    expect(Math.min(...offsets)).toBeLessThan(-50_000);
    expect(Math.max(...offsets)).toBeGreaterThan(50_000);
    expect(Math.max(...offsets.map(Math.abs))).toBeLessThanOrEqual(60_000);
  });
});
