import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { cacheTable } from '#platform/aws/tables.ts';
import type { TestAgentSystem } from '#test/support/agents/agent-system.ts';
import { newAgent, openAgentSystem, takes } from '#test/support/agents/agent-system.ts';
import { useLocalTables } from '#test/support/engines/local-tables.ts';

const open = useLocalTables();
let system: TestAgentSystem;

beforeEach(() => {
  system = openAgentSystem(open(cacheTable));
});

afterEach(() => system.clear());

describe('a message', () => {
  it('that comes early waits for its turn', async () => {
    let beganMs = 0;
    const agent = newAgent({}, async () => {
      beganMs = system.clock.now();
      return {};
    });
    await system.settle(agent);
    const { nextRunMs } = await system.find(agent);
    await system.clock.pass(Math.max(0, nextRunMs - 4_000 - system.clock.now()));
    const working = system.work({ agents: [agent], dueMs: nextRunMs });
    await system.clock.pass(4_000);
    await working;
    expect(Math.abs(beganMs - nextRunMs)).toBeLessThanOrEqual(1_000);
  });

  it('that comes much too early changes nothing', async () => {
    const agent = newAgent({});
    await system.settle(agent);
    await system.work(await system.waitForTurn(agent));
    const before = await system.find(agent);
    const working = system.work({ agents: [agent], dueMs: before.nextRunMs });
    await system.clock.pass(5_000);
    await working;
    expect(await system.find(agent)).toEqual(before);
    await system.work(await system.waitForTurn(agent));
    expect((await system.find(agent)).lastTurn).toBe(before.nextRunMs);
  });

  it('that comes twice runs its agents once, and sends nothing', async () => {
    let runs = 0;
    const agent = newAgent({});
    await system.settle(agent);
    const turn = await system.waitForTurn(agent);
    system.wanted = [
      newAgent(agent, async (run) => {
        runs += 1;
        await takes(system.clock, 1_000, run);
        return {};
      }),
    ];
    const both = Promise.all([system.work(turn), system.work(turn)]);
    await system.clock.pass(1_000);
    await both;
    await system.work(turn);
    expect(runs).toBe(1);
    expect(system.sent).toEqual([]);
  });

  it('that cannot be sent is tried three times, and then told', async () => {
    system.wanted = [newAgent({})];
    let sends = 0;
    system.onSend = () => {
      sends += 1;
      throw new Error('SQS is away');
    };
    const scheduling = system.schedule();
    await system.clock.pass(2_000);
    await scheduling;
    expect(sends).toBe(3);
    expect(system.lines).toContainEqual(
      expect.objectContaining({ level: 'error', message: 'messages for agents could not be sent' }),
    );
  });
});

describe('a demand', () => {
  it('runs what is not due, and leaves the next turn alone', async () => {
    const agent = newAgent({}, async () => ({ asOfMs: system.clock.now() }));
    await system.settle(agent);
    const before = await system.find(agent);
    await system.clock.pass(Math.max(0, before.nextRunMs - 20_000 - system.clock.now()));
    await system.work({ agents: [agent], dueMs: system.clock.now(), isDemanded: true });
    const after = await system.find(agent);
    expect(after.asOfMs).toBe(system.clock.now());
    expect(after.nextRunMs).toBe(before.nextRunMs);
    await system.work(await system.waitForTurn(agent));
    expect((await system.find(agent)).nextRunMs).toBe(before.nextRunMs + 30_000);
    expect(system.sent).toEqual([]);
  });

  it('that came before a late message makes it run nothing', async () => {
    let runs = 0;
    const agent = newAgent({}, async () => {
      runs += 1;
      return { asOfMs: system.clock.now() };
    });
    await system.settle(agent);
    const turn = await system.waitForTurn(agent);
    await system.clock.pass(2_000);
    const before = runs;
    await system.work({ agents: turn.agents, dueMs: system.clock.now(), isDemanded: true });
    await system.work(turn);
    expect(runs).toBe(before + 1);
    expect(system.sent).toEqual([]);
  });

  it('that is met already runs nothing', async () => {
    let runs = 0;
    const agent = newAgent({}, async () => {
      runs += 1;
      return { asOfMs: system.clock.now() };
    });
    await system.settle(agent);
    const before = runs;
    const { asOfMs: dueMs = 0 } = await system.find(agent);
    await system.work({ agents: [agent], dueMs, isDemanded: true });
    expect(runs).toBe(before);
    await system.work({ agents: [agent], dueMs: dueMs + 1, isDemanded: true });
    expect(runs).toBe(before + 1);
  });
});
