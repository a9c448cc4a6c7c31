import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { cacheTable } from '../../../../shared/aws/tables.ts';
import type { Agent } from '../../../../shared/core/agents/agent-store.ts';
import type { CachingAgent } from '../../../../shared/core/agents/caching-agent.ts';
import { createScheduleMemory, overdueAfterMs } from '../../../../shared/core/agents/revive-agents.ts';
import { agentLeaseMs } from '../../../../shared/core/agents/run-agent.ts';
import { scheduleAgents } from '../../../../shared/core/agents/schedule-agents.ts';
import { toVersion } from '../../../../shared/core/cache/version.ts';
import {
  hang,
  newAgent,
  openAgentSystem,
  type TestAgentSystem,
  takes,
} from '../../../support/agent-system.ts';
import { useLocalTables } from '../../../support/local-tables.ts';
import { testRandomness } from '../../../support/test-clock.ts';

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

/** Lets the agents there should be run for themselves, and loses what was sent last. */
async function losesMessages(): Promise<void> {
  await system.live(40_000);
  system.pending.length = 0;
  system.sent.length = 0;
}

describe('a turn of the scheduler', () => {
  it('adds new agents and sends for each alone at once, and not again at each turn', async () => {
    system.wanted = newAgents(3, 'new');
    expect(await system.schedule()).toMatchObject({ added: 3, revived: 3 });
    expect(takeSizes()).toEqual([1, 1, 1]);
    expect(system.events).toMatchObject([
      { type: 'AccountChanged', detail: { account: 'new', added: expect.any(Array), removed: [] } },
    ]);

    const revived: number[] = [];
    for (let minute = 0; minute < 32; minute += 1) {
      await system.clock.pass(60_000);
      revived.push((await system.schedule()).revived);
    }
    // After 1, 2, 4, 8 and 16 minutes.
    expect(revived.flatMap((count, index) => (count > 0 ? [index + 1] : []))).toEqual([1, 3, 7, 14, 28]);
    expect(system.events).toHaveLength(1);
  });

  it('sends for what is overdue, up to 25 together, but not for what is about to be run', async () => {
    system.wanted = newAgents(30, 'all');
    await losesMessages();
    const dueMs = (await system.agents.list())[0]?.nextRunMs ?? 0;
    await system.clock.pass(Math.max(0, dueMs - system.clock.now()) + overdueAfterMs - 1);
    expect(await system.schedule()).toMatchObject({ added: 0, revived: 0 });
    await system.clock.pass(1);
    expect(await system.schedule()).toMatchObject({ revived: 30 });
    expect(takeSizes()).toEqual([25, 5]);
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
    await system.live(agentLeaseMs + 60_000);
    const [first = 0, second = 0] = starts;
    // It died before it had renewed its lease.
    expect(second - first).toBeLessThanOrEqual(agentLeaseMs + 3_000);
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
    const [sick, ...well] = found as [Agent, Agent, Agent];
    expect(sick.attempts).toBeGreaterThan(3);
    expect(sick.attempts).toBeLessThan(12);
    for (const { lastRun } of well) expect(lastRun?.lagMs).toBeLessThan(3_000);
  });

  it('brings agents together that run at the same time, whoever ran alone', async () => {
    system.wanted = newAgents(30, 'all');
    await system.live(60_000);
    expect(new Set(takeSizes())).toEqual(new Set([1]));
    await system.live(11 * 60_000);
    takeSizes();
    await system.live(60_000);
    const sizes = takeSizes();
    expect(new Set(sizes)).toEqual(new Set([25, 5]));
    expect(sizes.length).toBeLessThanOrEqual(6);
  });

  it('leaves agents that follow a stream to who supplies their workers', async () => {
    const [streaming, other] = [newAgent({ mode: 'stream' }), newAgent({})];
    const due: string[] = [];
    const options = {
      wanted: [streaming, other],
      memory: createScheduleMemory(),
      startFollowing: async (agents: readonly Agent[]) =>
        void due.push(...agents.map(({ account }) => account)),
    };
    await scheduleAgents(system, options);
    expect(due).toEqual([streaming.account]);
    expect(system.sent.map(({ message }) => message.agents[0]?.account)).toEqual([other.account]);
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
    await losesMessages();
    await scheduleAgents(system, { wanted: system.wanted, memory: createScheduleMemory() });
    expect(takeSizes()).toEqual([25, 15]);
    await system.live(31_000);
    const runs = (await system.agents.list()).map(({ lastRun }) => lastRun?.lagMs ?? 0);
    expect(Math.max(...runs)).toBeLessThan(2_000);
  });
});

describe('an account that is removed', () => {
  const key = (account: string) => ({ account, kind: 'pod', namespace: 'shop', name: 'one' });
  const put = (account: string) =>
    system.cache.putObject({
      key: key(account),
      version: toVersion(1, '7'),
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
      await scheduleAgents(system, { wanted: [], rejected: [account], memory });
      await system.clock.pass(60_000);
    }
    expect(await system.cache.getObjects([key(account)])).toMatchObject([{ key: key(account) }]);
    for (let minute = 0; minute < 10; minute += 1) {
      await scheduleAgents(system, { wanted: [], memory });
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
