import { expect, it } from 'vitest';
import type { CachingAgentOutcome, EndedRun } from '#caching/scheduling/caching-agent-store.ts';
import { toCachingAgentView } from '#caching/scheduling/caching-agent-view.ts';
import { agentSchema } from '#contract/answers/cache.ts';

const run = { startedAtMs: 1_000, durationMs: 20, lagMs: 3, items: 5, changes: 1, nextRunMs: 2_000 };

it.each<CachingAgentOutcome>(['SUCCESS', 'FAILURE', 'STOPPED'])(
  'tells an agent whose last run was a %s',
  (outcome) => {
    const lastRun: EndedRun = { ...run, outcome };
    const spec = { account: 'prod', name: 'core', provider: 'kubernetes', intervalMs: 30_000 };
    const counts = { lastTurn: 1, nextRunMs: 2_000, attempts: 0, failures: 0, usedAtMs: 0 };

    const shown = JSON.parse(JSON.stringify(toCachingAgentView({ ...spec, ...counts, lastRun }, 1_500)));

    expect(agentSchema.parse(shown)).toEqual(shown);
    expect(shown).toMatchObject({ lastRun: { outcome } });
  },
);
