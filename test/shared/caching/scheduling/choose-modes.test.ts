import { describe, expect, it } from 'vitest';
import type { CachingAgentMode } from '#caching/scheduling/cache-mode.ts';
import type { CachingAgent } from '#caching/scheduling/caching-agent.ts';
import type { StoredCachingAgent } from '#caching/scheduling/caching-agent-store.ts';
import {
  changesPerSecondMax,
  chooseModes,
  watchedUnusedMs,
  watchesMax,
} from '#caching/scheduling/choose-modes.ts';
import { newAgent } from '#test/support/agents/agent-system.ts';

const nowMs = 100_000_000;
const hourMs = 3_600_000;

function configure(changes: Partial<CachingAgent> = {}): CachingAgent {
  return newAgent({ account: 'a', mode: 'automatic', ...changes });
}

function toAgent(account: string, changes: Partial<StoredCachingAgent> = {}): StoredCachingAgent {
  return {
    ...{ account, name: 'core', provider: 'kubernetes', intervalMs: 30_000, lastTurn: 0 },
    ...{ nextRunMs: nowMs, attempts: 1, failures: 0, usedAtMs: nowMs },
    ...changes,
  };
}

function toMode(
  mode: CachingAgentMode['mode'],
  reason: CachingAgentMode['reason'],
  ageMs = 0,
): Pick<StoredCachingAgent, 'mode'> {
  return { mode: { mode, reason, sinceMs: nowMs - ageMs } };
}

/** What a watcher, or the last run, measured. */
function measured(details: { readonly [name: string]: number }): Pick<StoredCachingAgent, 'progress'> {
  return { progress: { items: 1, changes: 0, details } };
}

/** The mode of one agent, with its reason. */
function choose(changes: Partial<StoredCachingAgent>, configured = configure()): string {
  const [{ choice } = {}] = chooseModes([{ agent: toAgent('a', changes), configured }], nowMs);
  return `${choice?.mode} ${choice?.reason}`;
}

describe('the mode of an agent', () => {
  it('is a stream by default, and what the settings say where they do', () => {
    expect(choose({})).toBe('stream default');
    const busy = { ...measured({ changesPerSecond: 1_000, watches: 1_000 }), usedAtMs: 0 };
    expect(choose(busy, configure({ mode: 'stream' }))).toBe('stream setting');
    expect(choose({}, configure({ mode: 'interval' }))).toBe('interval setting');
  });

  it('is turns while nobody uses its account, and a stream again once somebody does', () => {
    const unused = { usedAtMs: nowMs - watchedUnusedMs, ...toMode('stream', 'default') };
    expect(choose(unused)).toBe('interval unused');
    expect(choose({ usedAtMs: nowMs - watchedUnusedMs + 1 })).toBe('stream default');
    expect(choose({ ...toMode('interval', 'unused'), usedAtMs: nowMs })).toBe('stream default');
  });

  it('is turns where a worker would not open all the watches that it needs', () => {
    expect(choose(measured({ watches: watchesMax }))).toBe('stream default');
    const tooMany = measured({ watches: watchesMax + 1 });
    expect(choose({ ...toMode('stream', 'default'), ...tooMany })).toBe('interval watches');
    // One more or less does not let it go to and fro.
    const almost = measured({ watches: watchesMax - 1 });
    expect(choose({ ...toMode('interval', 'watches', 2 * hourMs), ...almost })).toBe('interval watches');
    const fewer = measured({ watches: watchesMax / 2 });
    expect(choose({ ...toMode('interval', 'watches', hourMs / 2), ...fewer })).toBe('interval watches');
    expect(choose({ ...toMode('interval', 'watches', 2 * hourMs), ...fewer })).toBe('stream default');
  });

  it('is turns while too much changes, and for an hour after', () => {
    const streaming = toMode('stream', 'default', hourMs);
    const ofRate = (changesPerSecond: number) => choose({ ...streaming, ...measured({ changesPerSecond }) });
    expect(ofRate(changesPerSecondMax)).toBe('stream default');
    expect(ofRate(changesPerSecondMax + 1)).toBe('interval changes');

    const run = (changes: number): Pick<StoredCachingAgent, 'lastRun'> => ({
      lastRun: { outcome: 'SUCCESS', durationMs: 1, items: 1, changes, startedAtMs: nowMs, lagMs: 0 },
    });
    const ofTurns = (changes: number, ageMs: number) =>
      choose({ ...toMode('interval', 'changes', ageMs), ...run(changes) });
    expect(ofTurns(0, hourMs - 1)).toBe('interval changes');
    expect(ofTurns(0, hourMs)).toBe('stream default');
    expect(ofTurns(30 * changesPerSecondMax, hourMs)).toBe('interval changes');
    // A first fill by turns is no reason to begin with turns.
    expect(choose(run(100_000))).toBe('stream default');
  });
});

describe('accounts beyond the limit', () => {
  const chooseAll = (agents: readonly StoredCachingAgent[], streamedAccountsMax: number) =>
    chooseModes(
      agents.map((agent) => ({
        agent,
        configured: configure({ account: agent.account, name: agent.name, streamedAccountsMax }),
      })),
      nowMs,
    ).map(({ choice: { mode, reason } }) => `${mode} ${reason}`);

  it('are those that were used longest ago, but what is watched stays so', () => {
    const [old, recent] = [toAgent('old', { usedAtMs: nowMs - 9 }), toAgent('recent')];
    expect(chooseAll([old, recent], 1)).toEqual(['interval limit', 'stream default']);
    const watched = { ...old, ...toMode('stream', 'default') };
    expect(chooseAll([watched, recent], 1)).toEqual(['stream default', 'interval limit']);
    expect(chooseAll([old, recent], 0)).toEqual(['interval limit', 'interval limit']);
  });

  it('are counted as accounts, each with all of its agents', () => {
    const agents = ['a', 'b'].flatMap((account) => [toAgent(account), toAgent(account, { name: 'custom' })]);
    expect(chooseAll(agents, 2)).toEqual(Array(4).fill('stream default'));
    const [a1, a2, b1, b2] = chooseAll(agents, 1);
    expect([a1, a2, b1, b2]).toEqual([
      'stream default',
      'stream default',
      'interval limit',
      'interval limit',
    ]);
  });
});
