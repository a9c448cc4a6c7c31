import { beforeEach, describe, expect, it } from 'vitest';
import { demandRefresh } from '#caching/scheduling/demand-refresh.ts';
import { cacheTable } from '#platform/aws/tables.ts';
import type { Conduct, TestAgentSystem } from '#test/support/agents/agent-system.ts';
import { hang, newAgent, openAgentSystem, takes } from '#test/support/agents/agent-system.ts';
import { useLocalTables } from '#test/support/engines/local-tables.ts';

const open = useLocalTables();
const nobody = new AbortController().signal;
let system: TestAgentSystem;

beforeEach(async () => {
  system = openAgentSystem(open(cacheTable));
  await system.clear();
});

/** An account with two agents that ran, each of which takes two seconds. */
async function settle(conduct: Conduct = async () => ({})): Promise<string> {
  const runs: Conduct = async (run, agent) => {
    const asOfMs = system.clock.now();
    await takes(system.clock, 2_000, run);
    return { asOfMs, ...(await conduct(run, agent)) };
  };
  const core = newAgent({ intervalMs: 300_000 }, runs);
  const custom = newAgent({ ...core, name: 'custom' }, runs);
  system.wanted = [core, custom];
  await system.live(20_000);
  system.sent.length = 0;
  return core.account;
}

/** Waits for a demand while the system lives. */
async function demand(account: string, { maxAgeMs, waitMs }: { maxAgeMs: number; waitMs: number }) {
  const beganMs = system.clock.now();
  let took = Number.POSITIVE_INFINITY;
  const how = { maxAgeMs, deadlineMs: system.clock.monotonic() + waitMs, signal: nobody };
  const demanding = demandRefresh(system, [account, 'without agents'], how);
  void demanding.then(() => {
    took = system.clock.now() - beganMs;
  });
  await system.live(waitMs + 1_000, () => took < Number.POSITIVE_INFINITY);
  return { beganMs, took, freshness: (await demanding).get(account) };
}

describe('a demand for fresh data', () => {
  it('is met at once when the cache is fresh enough', async () => {
    const account = await settle();
    const { took } = await demand(account, { maxAgeMs: 60_000, waitMs: 10_000 });
    expect(took).toBe(0);
    expect(system.sent).toEqual([]);
  });

  it('runs every agent of the account, each alone, and ends when all have', async () => {
    const account = await settle();
    const { beganMs, took, freshness } = await demand(account, { maxAgeMs: 0, waitMs: 15_000 });
    expect(took).toBeGreaterThanOrEqual(2_000);
    expect(took).toBeLessThan(4_000);
    expect(freshness?.asOfMs).toBeGreaterThanOrEqual(beganMs);
    const demands = system.sent.filter(({ message }) => message.isDemanded);
    expect(demands.map(({ message }) => message.agents.length)).toEqual([1, 1]);
  });

  it('asks who watches an agent, and has it not run', async () => {
    const account = await settle();
    for (const agent of await system.agents.list())
      await system.agents.setMode(agent, { mode: 'stream', reason: 'default' });
    const options = { owner: 'watcher', turn: 0, leaseMs: 60_000, demanded: true };
    const answer = await system.agents.claim({ account, name: 'core' }, options);
    if (answer === undefined) throw new Error('the agent could not be claimed');
    await system.agents.claim({ account, name: 'custom' }, options);
    const { beganMs } = await demand(account, { maxAgeMs: 100, waitMs: 1_000 });
    expect(system.sent.filter(({ message }) => message.isDemanded)).toEqual([]);
    expect(await system.agents.listDemands('watcher')).toEqual(new Map([[account, beganMs - 100]]));
    expect(await system.agents.listDemands('nobody')).toEqual(new Map());
  });

  it('is met by the run after one that began too early', async () => {
    const account = await settle();
    const how = { maxAgeMs: 0, deadlineMs: system.clock.monotonic() + 500, signal: nobody };
    const first = demandRefresh(system, [account], how);
    await system.live(1_000);
    await first;
    const { beganMs, freshness } = await demand(account, { maxAgeMs: 0, waitMs: 15_000 });
    expect(freshness?.asOfMs).toBeGreaterThanOrEqual(beganMs);
  });

  it('ends when time is up, and says how fresh the cache is', async () => {
    let isHanging = false;
    const account = await settle(async (_, agent) => (agent.name === 'custom' && isHanging ? hang() : {}));
    isHanging = true;
    const before = (await system.agents.readFreshness([account])).get(account)?.asOfMs;
    const { took, freshness } = await demand(account, { maxAgeMs: 0, waitMs: 8_000 });
    expect(took).toBe(8_000);
    expect(before).toBeGreaterThan(0);
    expect(freshness?.asOfMs).toBe(before);
  });

  it('does not wait for what a whole run could not make fresh', async () => {
    let mayRead = true;
    const account = await settle(async () => (mayRead ? {} : { asOfMs: undefined }));
    mayRead = false;
    const { beganMs, took, freshness } = await demand(account, { maxAgeMs: 0, waitMs: 15_000 });
    expect(took).toBeLessThan(6_000);
    expect(freshness?.asOfMs).toBeLessThan(beganMs);
  });

  it('is told to the agent in a cluster that keeps the account cached, and to no worker', async () => {
    const account = await settle();
    const told: unknown[] = [];
    const hints = { send: async (hint: object) => void told.push(hint) };
    const [one, other] = system.wanted.map(({ name }) => ({ account, name }));
    if (one === undefined || other === undefined) throw new Error('expected two agents');
    for (const key of [one, other])
      await system.agents.setMode(await system.find(key), { mode: 'stream', reason: 'watches' });
    const claim = { turn: 0, leaseMs: 45_000, demanded: true };
    await system.agents.claim(one, { ...claim, owner: 'caching@edge-1' });
    await system.agents.claim(other, { ...claim, owner: 'worker@host' });
    const wantedMs = system.clock.now();
    const gone = new AbortController();
    const how = { maxAgeMs: 0, deadlineMs: system.clock.monotonic() + 10_000, signal: gone.signal };
    const demanding = demandRefresh({ ...system, hints }, [account], how);
    await system.clock.pass(100);
    gone.abort(new Error('hung up'));
    await expect(demanding).rejects.toThrow('hung up');
    expect(told).toEqual([{ kind: 'REFRESH', account, id: String(wantedMs) }]);
  });
});
