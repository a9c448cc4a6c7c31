import { beforeAll, describe, expect, it } from 'vitest';
import { toCachingAgentView } from '#caching/scheduling/caching-agent-view.ts';
import type { AgentView } from '#contract/answers/cache.ts';
import { cacheTable } from '#platform/aws/tables.ts';
import { type AgentBench, leaseMs, openAgents, success } from '#test/contracts/agent-bench.ts';
import { useLocalTables } from '#test/support/engines/local-tables.ts';

const openTable = useLocalTables();
const intervalMs = 30_000;
const key = { account: 'prod', name: 'core' };
let bench: AgentBench;

beforeAll(async () => {
  bench = openAgents(openTable(cacheTable));
  await bench.store.sync([{ ...key, provider: 'kubernetes', intervalMs }]);
});

async function show(): Promise<AgentView> {
  const [agent] = await bench.store.list();
  if (agent === undefined) throw new Error('there is no agent');
  return toCachingAgentView(agent, bench.clock.now());
}

async function claim() {
  const answer = await bench.store.claim(key, { owner: 'one@host', turn: 0, leaseMs, demanded: true });
  if (answer === undefined) throw new Error('the agent could not be claimed');
  return answer.lease;
}

it('has the region of an agent that its name carries', async () => {
  const [agent] = await bench.store.list();
  if (agent === undefined) throw new Error('there is no agent');
  const regions = ['us-east-1/InstanceCachingAgent', 'DockerRegistryImageCachingAgent[1/1]'].map(
    (name) => toCachingAgentView({ ...agent, name }, bench.clock.now()).region,
  );
  expect(regions).toEqual(['us-east-1', undefined]);
});

describe('what an agent is doing', () => {
  it('is told before it ever ran', async () => {
    expect(await show()).toEqual({
      id: 'prod/core',
      provider: 'kubernetes',
      totalAdditions: 0,
      totalEvictions: 0,
      details: {},
      account: 'prod',
      name: 'core',
      intervalMs,
      state: 'waiting',
      isStale: false,
      failures: 0,
      attempts: 0,
      nextRun: expect.any(Number),
      lastUsed: expect.any(Number),
    });
  });

  it('is told while it runs: who does it, and how far it has come', async () => {
    const { store, clock } = bench;
    const lease = await claim();
    const progress = { items: 7, changes: 2, asOfMs: clock.now() - 1_000, details: { forbidden: 'secret' } };
    await store.renew(lease, progress);

    expect(await show()).toMatchObject({
      state: 'running',
      attempts: 1,
      leaseOwner: 'one@host',
      leaseUntil: expect.any(Number),
      totalAdditions: 7,
      details: { forbidden: 'secret' },
      ageMs: expect.any(Number),
    });
    await store.finish(lease, success(clock.now() + intervalMs));
  });

  it('is told of the last run', async () => {
    const { store, clock } = bench;
    const asOfMs = clock.now() - 5_000;
    const run = { items: 12, changes: 3, drift: 1, durationMs: 250, asOfMs };
    await store.finish(await claim(), success(clock.now() + intervalMs, run));

    const shown = await show();

    expect(shown).toMatchObject({
      state: 'waiting',
      isStale: false,
      totalAdditions: 12,
      lastExecutionDurationMs: 250,
      lastRun: { outcome: 'SUCCESS', durationMs: 250, items: 12, changes: 3, drift: 1 },
      asOf: asOfMs,
      attempts: 0,
    });
    expect(Date.parse(shown.lastExecutionStartDate ?? '')).toBe(shown.lastRun?.started);
    expect(shown).not.toHaveProperty('leaseOwner', expect.anything());
    expect(shown.ageMs).toBeGreaterThanOrEqual(5_000);
  });

  it('is told of a failure, which makes it stale', async () => {
    const { store, clock } = bench;
    const failure = { outcome: 'FAILURE', error: 'no route to the API server' } as const;
    await store.finish(await claim(), success(clock.now() + intervalMs, failure));
    expect(await show()).toMatchObject({
      isStale: true,
      failures: 1,
      lastError: 'no route to the API server',
      lastErrorTime: expect.any(Number),
      lastRun: { outcome: 'FAILURE' },
    });
  });

  it('is told when it should have run long ago, and when it is removed', async () => {
    const { store, clock } = bench;
    await store.finish(await claim(), success(clock.now() + intervalMs));
    clock.advance(3 * intervalMs + 1_000);
    expect(await show()).toMatchObject({ state: 'overdue', isStale: true });

    await store.sync([]);
    expect(await show()).toMatchObject({ state: 'removed', removed: expect.any(Number) });
  });
});
