import { describe, expect, it } from 'vitest';
import { findIntervalMs } from '#caching/scheduling/caching-agent-interval.ts';

describe('the interval of agents', () => {
  it.each([
    [{ sql: { agent: { poll: { intervalSeconds: 60 } } } }, 60_000],
    [{ redis: { poll: { intervalSeconds: '45' } } }, 45_000],
    [{ sql: { agent: { poll: { intervalSeconds: 60 } } }, redis: { poll: { intervalSeconds: 45 } } }, 60_000],
    [{ sql: { agent: { poll: { intervalSeconds: 5 } } }, redis: { poll: { intervalSeconds: 45 } } }, 45_000],
    [{ redis: { poll: { intervalSeconds: 7_200 } } }, undefined],
    [{ redis: { poll: { intervalSeconds: 'often' } } }, undefined],
    [{}, undefined],
  ])('of settings %j is %j ms', (settings, intervalMs) => {
    expect(findIntervalMs(settings)).toBe(intervalMs);
  });
});
