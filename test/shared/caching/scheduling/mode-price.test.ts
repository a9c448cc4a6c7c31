import { describe, expect, it } from 'vitest';
import type { StoredCachingAgent } from '#caching/scheduling/caching-agent-store.ts';
import { createPriceList, modePrices } from '#caching/scheduling/mode-price.ts';

const nowMs = 1_000_000_000;

function toAgent(account: string, changes: Partial<StoredCachingAgent>): StoredCachingAgent {
  return {
    ...{ account, name: 'core', provider: 'kubernetes', intervalMs: 30_000, lastTurn: 0 },
    ...{ nextRunMs: nowMs, attempts: 1, failures: 0, usedAtMs: nowMs },
    ...changes,
  };
}

const streams: Partial<StoredCachingAgent> = { mode: { mode: 'stream', reason: 'default', sinceMs: 0 } };
const turns: Partial<StoredCachingAgent> = { mode: { mode: 'interval', reason: 'setting', sinceMs: 0 } };

describe('what a mode costs a month', () => {
  it('is the share of a worker for one that is watched', () => {
    const lease = { owner: 'worker', untilMs: nowMs + 1 };
    const alone = toAgent('alone', { ...streams, lease: { ...lease, owner: 'other' } });
    const three = ['a', 'b', 'c'].map((account) => toAgent(account, { ...streams, lease }));
    const find = createPriceList([alone, ...three], nowMs);
    expect(find(alone)).toBeCloseTo(modePrices.worker + modePrices.progress, 1);
    expect(three.map(find)).toEqual([20.7, 20.7, 20.7]);
    // Nobody watches it yet: it may get a worker to itself.
    expect(find(toAgent('new', streams))).toBe(find(alone));
  });

  it('is that of its turns for one that is run', () => {
    const find = createPriceList([], nowMs);
    expect(find(toAgent('used', turns))).toBe(modePrices.turns);
    expect(find(toAgent('slow', { ...turns, intervalMs: 60_000 }))).toBeCloseTo(modePrices.turns / 2, 1);
    expect(find(toAgent('idle', { ...turns, usedAtMs: 0 }))).toBe(0.06);
    expect(find(toAgent('none', {}))).toBeUndefined();
  });
});
