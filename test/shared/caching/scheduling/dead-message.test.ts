import { describe, expect, it } from 'vitest';
import type { StoredCachingAgent } from '#caching/scheduling/caching-agent-store.ts';
import { findDeadMessageReason } from '#caching/scheduling/dead-message.ts';

const nowMs = 10_000_000;

/** An agent that waits for its next run. */
function describeAgent(changes: Partial<StoredCachingAgent> = {}): StoredCachingAgent {
  return {
    ...{ account: 'prod', name: 'core', provider: 'kubernetes', intervalMs: 30_000, usedAtMs: 0 },
    ...{ lastTurn: 0, nextRunMs: nowMs + 20_000, attempts: 0, failures: 0 },
    ...changes,
  };
}

const unbegun = describeAgent({ nextRunMs: nowMs - 61_000 });
const died = describeAgent({ attempts: 1, lease: { owner: 'dead@host', untilMs: nowMs - 1 } });
const held = describeAgent({ attempts: 1, lease: { owner: 'alive@host', untilMs: nowMs + 1 } });

describe('a dead letter of agents', () => {
  it.each([
    ['settled', 'whose agent waits for its next run', [describeAgent()]],
    ['settled', 'whose agent somebody runs', [held]],
    ['settled', 'whose agent is gone', []],
    ['settled', 'whose agent was removed', [describeAgent({ ...died, removedAtMs: nowMs - 5 })]],
    ['unbegun', 'whose agent nobody took', [unbegun]],
    ['unended', 'whose agent lost its worker', [died]],
    ['unended', 'of several of which one lost its worker', [{ ...unbegun, name: 'custom' }, died]],
  ] as const)('is %s %s', (reason, _, agents) => {
    const keys = [
      { account: 'prod', name: 'core' },
      { account: 'prod', name: 'custom' },
    ];
    const others = { ...died, account: 'other' };
    expect(findDeadMessageReason([...agents, others], keys, nowMs)).toBe(reason);
  });
});
