import { describe, expect, it } from 'vitest';
import { ConnectGate } from '#agents/services/connect-gates.ts';
import { OverloadError } from '#core/errors.ts';

/** Asks, and answers when to come again: milliseconds; 0 for who is let in. */
function ask(gate: ConnectGate): number {
  try {
    gate.enter();
    return 0;
  } catch (error) {
    if (!(error instanceof OverloadError)) throw error;
    return error.retryAfterSeconds * 1_000;
  }
}

describe('the gate of agents that connect', () => {
  it('lets in no more than so many within any second, and all of them in the end', () => {
    let nowMs = 0;
    const gate = new ConnectGate({ monotonic: () => nowMs }, 25);
    const admitted: number[] = [];
    // Each comes when it was told to, somewhat later.
    let waiting = Array.from({ length: 1_000 }, (_, index) => ({ atMs: 0, lateMs: (index * 37) % 1_000 }));
    for (; waiting.length > 0 && nowMs < 120_000; nowMs += 10) {
      waiting = waiting.flatMap((each) => {
        if (each.atMs > nowMs) return [each];
        const againMs = ask(gate);
        if (againMs === 0) admitted.push(nowMs);
        return againMs === 0 ? [] : [{ ...each, atMs: nowMs + againMs + each.lateMs }];
      });
    }
    expect(admitted).toHaveLength(1_000);
    expect(nowMs).toBeLessThan(60_000);
    const crowds = admitted.map((start) => admitted.filter((at) => at >= start && at < start + 1_000).length);
    expect(Math.max(...crowds)).toBe(25);
  });

  it('tells nobody to come later than in a minute', () => {
    const gate = new ConnectGate({ monotonic: () => 0 }, 1);
    expect(ask(gate)).toBe(0);
    const told = Array.from({ length: 200 }, () => ask(gate));
    expect(told[0]).toBe(2_000);
    expect(told.at(-1)).toBe(60_000);
  });
});
