import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { CachingAgent } from '#caching/scheduling/caching-agent.ts';
import { cachingAgentLeaseMs, sentAheadMs } from '#caching/scheduling/caching-agent-schedule.ts';
import type { StoredCachingAgent } from '#caching/scheduling/caching-agent-store.ts';
import { overdueAfterMs } from '#caching/scheduling/due-caching-agents.ts';
import { createScheduleMemory, scheduleTurns } from '#caching/scheduling/schedule-turns.ts';
import { toRevision } from '#caching/store/revision.ts';
import { cacheTable } from '#platform/aws/tables.ts';
import type { TestAgentSystem } from '#test/support/agents/agent-system.ts';
import { hang, newAgent, openAgentSystem, takes } from '#test/support/agents/agent-system.ts';
import { useLocalTables } from '#test/support/engines/local-tables.ts';
import { testRandomness } from '#test/support/run/test-clock.ts';

const open = useLocalTables();
let system: TestAgentSystem;

beforeEach(() => {
  system = openAgentSystem(open(cacheTable));
});

afterEach(() => system.clear());

function newAgents(count: number, account?: string): CachingAgent[] {
  return Array.from({ length: count }, (_, index) =>
    newAgent({ name: `${index}`, ...(account && { account }) }),
  );
}

/** How many agents each message names that was sent since the last look. */
function takeSizes(): number[] {
  return system.sent.splice(0).map(({ message }) => message.agents.length);
}

/** Lets the agents there should be have their first runs. */
async function settles(): Promise<void> {
  await system.live(3 * 60_000);
  system.sent.length = 0;
}

describe('a turn of the scheduler', () => {
  it('adds new agents and sends for each alone at once, and less often while nobody begins them', async () => {
    system.wanted = newAgents(3, 'new');
    expect(await system.schedule()).toMatchObject({ added: 3, overdue: 3 });
    expect(new Set(takeSizes())).toEqual(new Set([1]));
    expect(system.events).toMatchObject([
      { type: 'AccountChanged', detail: { account: 'new', added: expect.any(Array), removed: [] } },
    ]);

    const overdue: number[] = [];
    for (let minute = 0; minute < 40; minute += 1) {
      await system.clock.pass(60_000);
      overdue.push((await system.schedule()).overdue);
    }
    const minutes = overdue.flatMap((count, index) => (count > 0 ? [index + 1] : []));
    expect(minutes.slice(0, 2)).toEqual([1, 2]);
    expect(minutes.length).toBeLessThanOrEqual(7);
    expect(takeSizes().length).toBeLessThanOrEqual(3 * 7);
    expect(system.events).toHaveLength(1);
  });

  it('sends for all turns of a minute, up to 25 agents together, in as few calls as there can be', async () => {
    system.wanted = newAgents(30, 'all');
    await settles();
    let calls = 0;
    const { send } = system.agentQueue;
    Object.assign(system.agentQueue, {
      send: (...args: Parameters<typeof send>) => {
        calls += 1;
        return send(...args);
      },
    });
    await system.live(2 * 60_000);
    expect(calls).toBeGreaterThanOrEqual(1);
    expect(takeSizes()).toEqual(Array.from({ length: 2 * calls }, () => [25, 5]).flat());
  });

  it('may be left out once, or come late: no run is late', async () => {
    system.wanted = newAgents(4);
    await settles();
    system.lags.length = 0;
    await system.schedule();
    const { schedule } = system;
    const absentMs = sentAheadMs - 5_000;
    const backMs = system.clock.now() + absentMs;
    system.schedule = async () => {
      if (system.clock.now() >= backMs) return schedule();
      return { added: 0, removed: 0, overdue: 0, forgotten: 0 };
    };
    void system.clock.sleep(absentMs).then(() => system.schedule());
    await system.live(4 * 60_000);
    expect(system.lags.length).toBeGreaterThanOrEqual(4 * 7);
    expect(Math.max(...system.lags)).toBeLessThanOrEqual(1_000);
  });

  it('sends once more for what could not be sent, before it is due', async () => {
    system.wanted = newAgents(3, 'all');
    await settles();
    await system.live(59_000);
    system.lags.length = 0;
    const backMs = system.clock.now() + 30_000;
    const { onSend } = system;
    system.onSend = (message) => {
      if (system.clock.now() < backMs) throw new Error('SQS is away');
      onSend(message);
    };
    await system.live(4 * 60_000);
    expect(system.lags.length).toBeGreaterThanOrEqual(3 * 7);
    expect(Math.max(...system.lags)).toBeLessThanOrEqual(1_000);
  });

  it('brings a dead worker’s agents back when its lease is over', async () => {
    const starts: number[] = [];
    const death = new AbortController();
    const agent = newAgent({ intervalMs: 300_000 }, async () => {
      starts.push(system.clock.now());
      return starts.length > 1 ? {} : hang();
    });
    system.wanted = [agent];
    await system.schedule();
    system.pending.length = 0;
    void system.work({ agents: [agent], dueMs: 0 }, { death: death.signal });
    await system.clock.pass(10_000);
    death.abort();
    await system.live(cachingAgentLeaseMs + 60_000);
    const [first = 0, second = 0] = starts;
    // It died before it had renewed its lease, and no turn of the scheduler saw it run for longer than an agent may be late.
    expect(second - first).toBeLessThanOrEqual(cachingAgentLeaseMs + overdueAfterMs);
  });

  it('sends less and less often for an agent of which workers die, and alone', async () => {
    const starts: number[] = [];
    const [poisonous, ...others] = newAgents(3, 'all') as [CachingAgent, CachingAgent, CachingAgent];
    system.wanted = [poisonous, ...others];
    await system.live(700_000);
    const deadly = newAgent(poisonous, hang);
    system.wanted = [deadly, ...others];
    const { work } = system;
    system.work = (message) => {
      const isDeadly = message.agents.some(({ name }) => name === poisonous.name);
      if (!isDeadly) return work(message);
      const death = new AbortController();
      const working = work(message, { death: death.signal });
      void system.clock.sleep(1_000).then(async () => {
        const agent = (await system.agents.list()).find(({ name }) => name === poisonous.name);
        if (agent?.lease !== undefined && !death.signal.aborted) starts.push(system.clock.now());
        death.abort();
      });
      return Promise.race([working, system.clock.sleep(1_000)]);
    };
    system.sent.length = 0;
    await system.live(30 * 60_000);
    const found = await system.agents.list();
    const [sick, ...well] = found as [StoredCachingAgent, StoredCachingAgent, StoredCachingAgent];
    expect(sick.attempts).toBeGreaterThan(3);
    expect(sick.attempts).toBeLessThan(12);
    for (const { lastRun } of well) expect(lastRun?.lagMs).toBeLessThan(3_000);
  });

  it('leaves agents that watch a stream to who supplies their workers', async () => {
    const [streaming, other] = [newAgent({ mode: 'stream' }), newAgent({})];
    const due: string[] = [];
    const options = {
      wanted: [streaming, other],
      memory: createScheduleMemory(),
      startWatching: async (agents: readonly StoredCachingAgent[]) =>
        void due.push(...agents.map(({ account }) => account)),
    };
    await scheduleTurns(system, options);
    expect(due).toEqual([streaming.account]);
    expect(new Set(system.sent.map(({ message }) => message.agents[0]?.account))).toEqual(
      new Set([other.account]),
    );
  });

  it('puts agents into modes by what settings say and agents measure, and keeps why', async () => {
    const account = `account ${testRandomness.id()}`;
    let mode: CachingAgent['mode'] = 'automatic';
    const memory = createScheduleMemory();
    const turn = async () => {
      await scheduleTurns(system, {
        wanted: [newAgent({ account, mode })],
        memory,
        startWatching: async () => undefined,
      });
      return (await system.find({ account, name: 'core' })).mode;
    };
    const beganMs = system.clock.now();
    expect(await turn()).toEqual({ mode: 'stream', reason: 'default', sinceMs: beganMs });
    await system.clock.pass(60_000);
    mode = 'stream';
    expect(await turn()).toEqual({ mode: 'stream', reason: 'setting', sinceMs: beganMs });

    const claim = { owner: 'watcher', turn: 0, leaseMs: 600_000, demanded: true };
    const answer = await system.agents.claim({ account, name: 'core' }, claim);
    if (answer === undefined) throw new Error('the agent could not be claimed');
    mode = 'automatic';
    await system.agents.renew(answer.lease, { items: 1, changes: 1, details: { watches: 1_000 } });
    const changedMs = system.clock.now();
    expect(await turn()).toEqual({ mode: 'interval', reason: 'watches', sinceMs: changedMs });
    const { lease, nextRunMs } = await system.find({ account, name: 'core' });
    expect([lease, nextRunMs]).toEqual([undefined, changedMs]);
    await expect(system.agents.renew(answer.lease)).rejects.toThrow('held by another worker');
  });
});

describe('stale accounts', () => {
  const minute = 60_000;
  const takeCount = () => system.counts.splice(0).at(-1);
  const takeLines = () =>
    system.lines
      .splice(0)
      .flatMap(({ message, fields }) => (/stale/.test(message) ? [{ message, ...fields }] : []));

  it('are counted and named once what they cached is older than it should be, until it is young again', async () => {
    const fine = newAgents(3, 'fine').map((agent) =>
      newAgent(agent, async () => ({ asOfMs: system.clock.now() })),
    );
    let isAway = false;
    const sick = newAgent({ account: 'sick' }, async () => {
      if (isAway) throw new Error('away');
      return { asOfMs: system.clock.now() };
    });
    system.wanted = [...fine, sick];
    await system.live(5 * minute);
    expect(takeCount()).toEqual({ all: 2, stale: [] });

    isAway = true;
    await system.live(14 * minute);
    expect(takeCount()).toEqual({ all: 2, stale: [] });
    await system.live(8 * minute);
    expect(takeCount()).toEqual({ all: 2, stale: ['sick'] });
    const line = { message: 'accounts are stale', accounts: ['sick'], stale: 1, all: 2 };
    expect(takeLines()).toEqual([line]);
    await system.live(21 * minute);
    expect(takeLines()).toEqual([line, line]);

    isAway = false;
    await system.live(12 * minute);
    expect(takeCount()).toEqual({ all: 2, stale: [] });
    expect(takeLines().at(-1)).toEqual({ message: 'no account is stale any more', all: 2 });
  });

  it('are those that were never read, once they failed five times, and those that nobody begins', async () => {
    const failing = newAgent({ account: 'failing' }, () => Promise.reject(new Error('refused')));
    const listing = newAgent({ account: 'listing', timeoutMs: 60 * minute }, (run) =>
      takes(system.clock, 50 * minute, run).then(() => ({})),
    );
    system.wanted = [failing, listing];
    await system.live(2 * minute);
    expect(takeCount()).toEqual({ all: 2, stale: [] });
    await system.live(18 * minute);
    expect(takeCount()).toEqual({ all: 2, stale: ['failing'] });

    system.onSend = () => undefined;
    system.wanted = [failing, listing, newAgent({ account: 'unbegun' })];
    await system.live(14 * minute);
    expect(takeCount()?.stale).toEqual(['failing']);
    await system.live(3 * minute);
    expect(takeCount()).toEqual({ all: 3, stale: ['failing', 'unbegun'] });
  });

  it('of mode stream are counted by what they tell, and removed ones are not', async () => {
    const old = newAgent({ account: 'old', mode: 'stream' });
    system.wanted = [old, newAgent({ account: 'gone' })];
    await system.schedule();
    await system.clock.pass(20 * minute);
    system.wanted = [old];
    await system.schedule();
    expect(takeCount()).toEqual({ all: 1, stale: ['old'] });
  });
});

describe('a new process', () => {
  it('sends for every agent once: what the one before sent may be lost', async () => {
    system.wanted = newAgents(40, 'all');
    await settles();
    system.pending.length = 0;
    await system.clock.pass(100_000);
    await scheduleTurns(system, { wanted: system.wanted, memory: createScheduleMemory() });
    expect(takeSizes().slice(0, 2)).toEqual([25, 15]);
    await system.live(1_000);
    for (const { lastRun } of await system.agents.list())
      expect(system.clock.now() - (lastRun?.startedAtMs ?? 0)).toBeLessThanOrEqual(1_000);
  });

  it('beside another one runs no turn twice', async () => {
    system.wanted = newAgents(10, 'all');
    await settles();
    system.lags.length = 0;
    await scheduleTurns(system, { wanted: system.wanted, memory: createScheduleMemory() });
    await system.live(5 * 60_000);
    expect(system.lags.length).toBeLessThanOrEqual(100);
    expect(Math.max(...system.lags)).toBeLessThanOrEqual(1_000);
  });
});

describe('an account that is removed', () => {
  const key = (account: string) => ({ account, kind: 'pod', location: 'shop', name: 'one' });
  const put = (account: string) =>
    system.cache.putObject({
      key: key(account),
      revision: toRevision(1, '7'),
      application: 'shop',
      body: '{}',
    });

  it('loses its data in the cache after a while, and then its agents are forgotten', async () => {
    const [gone, kept] = [`gone ${testRandomness.id()}`, `kept ${testRandomness.id()}`];
    const agents = [newAgent({ account: gone }), newAgent({ account: gone, name: 'custom' })];
    const other = newAgent({ account: kept });
    system.wanted = [...agents, other];
    await system.schedule();
    await Promise.all([put(gone), put(kept)]);
    system.events.length = 0;

    system.wanted = [other];
    expect(await system.schedule()).toMatchObject({ removed: 2, forgotten: 0 });
    expect(system.events).toMatchObject([{ type: 'AccountChanged', detail: { account: gone, added: [] } }]);
    await system.clock.pass(4 * 60_000);
    await system.schedule();
    expect(await system.cache.listKinds(gone)).toEqual(['pod']);

    let forgotten = 0;
    for (let minute = 0; minute < 10; minute += 1) {
      await system.clock.pass(60_000);
      forgotten += (await system.schedule()).forgotten;
    }
    expect(forgotten).toBe(2);
    expect(await system.cache.listKinds(gone)).toEqual([]);
    expect(await system.cache.getObjects([key(gone)])).toEqual([undefined]);
    expect(await system.cache.getObjects([key(kept)])).toMatchObject([{ key: key(kept) }]);
    expect((await system.agents.list()).map(({ account }) => account)).toEqual([kept]);
    expect(system.events).toHaveLength(1);
  });

  it('keeps everything when it is back soon', async () => {
    const account = `back ${testRandomness.id()}`;
    const agents = [newAgent({ account })];
    system.wanted = agents;
    await system.schedule();
    await put(account);
    system.wanted = [];
    await system.schedule();
    system.wanted = agents;
    expect(await system.schedule()).toMatchObject({ added: 1 });
    for (let minute = 0; minute < 12; minute += 1) {
      await system.clock.pass(60_000);
      await system.schedule();
    }
    expect(await system.cache.getObjects([key(account)])).toMatchObject([{ key: key(account) }]);
  });

  it('keeps its data while it is only left out for wrong settings', async () => {
    const account = `wrong ${testRandomness.id()}`;
    system.wanted = [newAgent({ account })];
    await system.schedule();
    await put(account);
    const memory = createScheduleMemory();
    for (let minute = 0; minute < 15; minute += 1) {
      await scheduleTurns(system, { wanted: [], rejected: [account], memory });
      await system.clock.pass(60_000);
    }
    expect(await system.cache.getObjects([key(account)])).toMatchObject([{ key: key(account) }]);
    for (let minute = 0; minute < 10; minute += 1) {
      await scheduleTurns(system, { wanted: [], memory });
      await system.clock.pass(60_000);
    }
    expect(await system.cache.getObjects([key(account)])).toEqual([undefined]);
  });

  it('keeps its data while it has another agent', async () => {
    const account = `half ${testRandomness.id()}`;
    const [core, custom] = [newAgent({ account }), newAgent({ account, name: 'custom' })];
    system.wanted = [core, custom];
    await system.schedule();
    await put(account);
    system.wanted = [core];
    await system.schedule();
    await system.clock.pass(6 * 60_000);
    expect(await system.schedule()).toMatchObject({ forgotten: 1 });
    expect(await system.cache.getObjects([key(account)])).toMatchObject([{ key: key(account) }]);
  });
});
