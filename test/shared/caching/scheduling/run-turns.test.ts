import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { getStatePartition } from '#caching/aws/agents/caching-agent-items.ts';
import type { CachingAgent, CachingResult } from '#caching/scheduling/caching-agent.ts';
import { cachingAgentLeaseMs, getTurn } from '#caching/scheduling/caching-agent-schedule.ts';
import { type ItemKey, ItemTable } from '#platform/aws/table.ts';
import { cacheTable } from '#platform/aws/tables.ts';
import { CheckpointError } from '#tasks/run-task.ts';
import type { TestAgentSystem } from '#test/support/agents/agent-system.ts';
import { hang, newAgent, openAgentSystem, takes } from '#test/support/agents/agent-system.ts';
import { useLocalTables } from '#test/support/engines/local-tables.ts';

const open = useLocalTables();
let system: TestAgentSystem;

beforeEach(() => {
  system = openAgentSystem(open(cacheTable));
});

afterEach(() => system.clear());

describe('a run', () => {
  it('hands over what the one before left, and leaves something for the next', async () => {
    const states: (string | undefined)[] = [];
    const agent = newAgent({}, async ({ state }) => {
      states.push(state);
      return { state: `${state ?? ''}x`, items: 7, asOfMs: 5 };
    });
    await system.settle(agent);
    await system.work(await system.waitForTurn(agent));
    expect(states).toEqual([undefined, 'x', 'xx'].slice(0, states.length));
    expect(await system.find(agent)).toMatchObject({ asOfMs: 5, lastRun: { outcome: 'SUCCESS', items: 7 } });
  });

  it('begins anew when what was left is damaged', async () => {
    const states: (string | undefined)[] = [];
    const agent = newAgent({}, async ({ state }) => {
      states.push(state?.slice(0, 1));
      return { state: randomBytes(20_000).toString('base64') };
    });
    await system.settle(agent);
    const table = new ItemTable(open(cacheTable).openDocuments(), cacheTable.name);
    for (const { pk, sk } of await table.query(getStatePartition(agent)))
      await table.delete({ pk, sk } as ItemKey);
    await system.work(await system.waitForTurn(agent));
    expect(states.at(-1)).toBeUndefined();
    expect(await system.find(agent)).toMatchObject({ lastRun: { outcome: 'SUCCESS' } });
    expect(system.lines.map(({ message }) => message)).toContain(
      'what an agent left is damaged: it begins anew',
    );
  });

  it('may commit what it came to before it ends', async () => {
    let isDying = true;
    const states: (string | undefined)[] = [];
    const agent = newAgent({}, async ({ state, commitState }) => {
      states.push(state);
      await commitState('half');
      return isDying ? hang() : {};
    });
    system.wanted = [agent];
    await system.schedule();
    const death = new AbortController();
    void system.work({ agents: [agent], dueMs: system.clock.now() }, { death: death.signal });
    await system.clock.pass(100);
    death.abort();
    isDying = false;
    await system.clock.pass(cachingAgentLeaseMs + 1);
    await system.work({ agents: [agent], dueMs: 0 });
    expect(states).toEqual([undefined, 'half']);
  });

  it('that fails shows why, comes less and less often, alone, and delays nobody', async () => {
    const sick = newAgent({}, async () => {
      throw new Error('connect ECONNREFUSED 10.0.0.1:443');
    });
    const well = newAgent({ account: sick.account, name: 'other' });
    system.wanted = [sick, well];
    await system.live(20 * 60_000);
    const failed = await system.find(sick);
    expect(failed.lastError?.message).toBe('connect ECONNREFUSED 10.0.0.1:443');
    expect(failed.failures).toBeGreaterThanOrEqual(4);
    expect(failed.failures).toBeLessThan(10);
    expect(failed.nextRunMs - (failed.lastRun?.startedAtMs ?? 0)).toBeGreaterThan(60_000);
    expect((await system.find(well)).lastRun?.lagMs).toBeLessThan(3_000);
    const together = system.sent.filter(({ message }) => message.agents.length > 1);
    expect(together).toEqual([]);
  });

  it('with an error of its own failed, and what it did counts', async () => {
    const agent = newAgent({}, async () => ({
      changes: 3,
      items: 9,
      asOfMs: 4,
      error: 'pods may not be listed',
    }));
    await system.settle(agent);
    expect(await system.find(agent)).toMatchObject({
      asOfMs: 4,
      lastRun: { outcome: 'FAILURE', changes: 3, items: 9 },
      lastError: { message: 'pods may not be listed' },
    });
  });

  it('is given up after its time, though it does not listen', async () => {
    const agent = newAgent({ timeoutMs: 40_000 }, hang);
    await system.settle(agent);
    await system.clock.pass(40_000);
    expect(await system.find(agent)).toMatchObject({ lastError: { message: 'given up after 40 s' } });
  });

  it('that ends in a moment after its time has been successful', async () => {
    const agent = newAgent({ timeoutMs: 10_000 }, async (run) => {
      await takes(system.clock, 60_000, run).catch(() => undefined);
      return { changes: 2 };
    });
    await system.settle(agent);
    expect(await system.find(agent)).toMatchObject({ lastRun: { outcome: 'SUCCESS', changes: 2 } });
  });

  it('whose worker is stopped goes on at once, and nothing counts as failed', async () => {
    const agent = newAgent({});
    await system.settle(agent);
    const turn = await system.waitForTurn(agent);
    const stop = new AbortController();
    system.wanted = [newAgent(agent, (run) => takes(system.clock, 60_000, run).then(() => ({})))];
    const working = system.work(turn, { stop: stop.signal });
    await system.clock.pass(5_000);
    stop.abort(new CheckpointError('over'));
    await system.clock.pass(0);
    await working;
    const nowMs = system.clock.now();
    expect(await system.find(agent)).toMatchObject({
      failures: 0,
      nextRunMs: nowMs,
      lastRun: { outcome: 'STOPPED' },
    });
    expect(system.sent).toEqual([{ message: { agents: turn.agents, dueMs: nowMs }, comesMs: nowMs }]);
    expect(system.events).toEqual([]);

    system.wanted = [agent];
    await system.work({ agents: turn.agents, dueMs: nowMs });
    expect(await system.find(agent)).toMatchObject({ lastRun: { outcome: 'SUCCESS' } });
  });

  it('of an agent that was removed meanwhile ends without a trace', async () => {
    const agent = newAgent({});
    await system.settle(agent);
    const turn = await system.waitForTurn(agent);
    system.wanted = [newAgent(agent, (run) => takes(system.clock, 60_000, run).then(() => ({})))];
    const working = system.work(turn);
    await system.clock.pass(1_000);
    await system.agents.sync([]);
    await system.clock.pass(20_000);
    await working;
    expect(system.sent).toEqual([]);
    expect(await system.find(agent)).toMatchObject({
      lastRun: { outcome: 'SUCCESS' },
      removedAtMs: expect.anything(),
    });
  });
});

describe('agents of one message', () => {
  it('do not wait for one that hangs', async () => {
    const agents = Array.from({ length: 25 }, (_, index) => newAgent({ account: 'all', name: `${index}` }));
    await system.settle(...agents);
    const [slow] = agents as [CachingAgent];
    const turn = await system.waitForTurn(...agents);
    system.wanted = [newAgent(slow, hang), ...agents.slice(1)];
    void system.work(turn);
    await system.clock.pass(1_000);
    const next = (await system.agents.list()).filter(({ nextRunMs }) => nextRunMs === turn.dueMs + 30_000);
    expect(next).toHaveLength(24);

    await system.clock.pass(303_000);
    expect(system.sent).toEqual([]);
    expect(await system.find(slow)).toMatchObject({
      failures: 1,
      lastError: { message: 'given up after 300 s' },
    });
  });

  it('are run alone when one wants to list: it keeps what it did, and its turn', async () => {
    const alone: boolean[] = [];
    const [agent, other] = [newAgent({ account: 'all', name: 'a' }), newAgent({ account: 'all', name: 'b' })];
    await system.settle(agent, other);
    const turn = await system.waitForTurn(agent, other);
    const lister = newAgent(agent, async ({ isAlone, state }) => {
      alone.push(isAlone);
      return isAlone ? { items: 40, state: `${state}, all` } : { outcome: 'listing', state: 'half' };
    });
    system.wanted = [lister, other];
    await system.work(turn);
    const now = { agents: [turn.agents[0]], dueMs: system.clock.now() };
    expect(system.sent.map(({ message }) => message)).toEqual([now]);
    await system.work(now as typeof turn);
    expect(alone).toEqual([false, true]);
    const found = await system.find(agent);
    expect(found).toMatchObject({ failures: 0, lastRun: { outcome: 'SUCCESS', items: 40 } });
    const nextTurn = getTurn(agent, system.clock.now()) + 30_000;
    expect(found.nextRunMs).toBe(nextTurn);
    expect(system.sent).toHaveLength(1);
  });

  it('that ask to be run alone although they are fail, instead of asking for ever', async () => {
    const agent = newAgent({}, async () => ({ outcome: 'listing' }));
    await system.settle(agent);
    expect((await system.find(agent)).failures).toBeGreaterThan(0);
    expect(system.clock.now()).toBeLessThan((await system.find(agent)).nextRunMs);
  });

  it('of which one killed its worker are run one by one', async () => {
    const [agent, other] = [newAgent({ account: 'all', name: 'a' }), newAgent({ account: 'all', name: 'b' })];
    await system.settle(agent, other);
    const turn = await system.waitForTurn(agent, other);
    const death = new AbortController();
    const runs: string[] = [];
    system.wanted = [agent, other].map((one) =>
      newAgent(one, async (run) => {
        runs.push(`${one.name} ${run.isAlone}`);
        return death.signal.aborted ? {} : hang();
      }),
    );
    void system.work(turn, { death: death.signal });
    await system.clock.pass(1_000);
    death.abort();
    await system.clock.pass(cachingAgentLeaseMs);
    await system.work(turn);
    expect(runs.splice(0).toSorted()).toEqual(['a false', 'b false']);
    await system.live(1_000);
    expect(runs.toSorted()).toEqual(['a true', 'b true']);
  });

  it('that no provider has any more are left out', async () => {
    const agent = newAgent({});
    await system.settle(agent);
    const turn = await system.waitForTurn(agent);
    system.wanted = [];
    await system.work(turn);
    expect(system.sent).toEqual([]);
  });
});

describe('what is told of runs', () => {
  it('has what they tell besides, which is not stored', async () => {
    const events = [{ type: 'ImagePushed', atMs: 5, detail: { tag: '1' } }];
    const agent = newAgent({}, async () => ({ events }));
    await system.settle(agent);
    system.events.length = 0;
    await system.work(await system.waitForTurn(agent));
    expect(system.events).toEqual(events);
    expect(await system.find(agent)).not.toHaveProperty('lastRun.events');
  });

  it('are those that changed something, failed, or went well again', async () => {
    const results: Partial<CachingResult>[] = [{}, { changes: 2 }, { error: 'no' }, {}, {}];
    const agent = newAgent({}, async () => results[0] ?? {});
    await system.settle(agent);
    system.events.length = 0;
    const told: number[] = [];
    for (; results.length > 0; results.shift()) {
      await system.work(await system.waitForTurn(agent));
      told.push(system.events.splice(0).length);
    }
    expect(told).toEqual([0, 1, 1, 1, 0]);
    expect(system.lags).toHaveLength(5);
    expect(system.lines.filter(({ level }) => level === 'warn')).toMatchObject([
      {
        message: 'an agent failed',
        fields: { account: agent.account, agent: 'core', error: 'no', failures: 1 },
      },
    ]);
  });
});
