import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { cacheTable } from '../../../../shared/aws/tables.ts';
import { newAgent, openAgentSystem, type TestAgentSystem, takes } from '../../../support/agent-system.ts';
import { useLocalTables } from '../../../support/local-tables.ts';

const open = useLocalTables();
let system: TestAgentSystem;

beforeEach(() => {
  system = openAgentSystem(open(cacheTable));
});

afterEach(() => system.clear());

describe('a message', () => {
  it('that comes early comes again, and no turn is lost', async () => {
    const agent = newAgent({});
    await system.settle(agent);
    const { nextRunMs } = await system.find(agent);
    await system.clock.pass(Math.max(0, nextRunMs - 10_000 - system.clock.now()));
    const message = { agents: [{ account: agent.account, name: agent.name }], dueMs: nextRunMs };
    await system.work(message);
    expect(system.sent).toEqual([{ message, comesMs: expect.any(Number) }]);
    expect(Math.abs((system.sent[0]?.comesMs ?? 0) - nextRunMs)).toBeLessThan(1_000);
  });

  it('that comes twice runs its agents once, and has one successor', async () => {
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
    expect(system.sent).toHaveLength(1);
  });

  it('that cannot be sent is tried three times, and then told', async () => {
    const agent = newAgent({});
    await system.settle(agent);
    const turn = await system.waitForTurn(agent);
    let sends = 0;
    system.onSend = () => {
      sends += 1;
      throw new Error('SQS is away');
    };
    const working = system.work(turn);
    await system.clock.pass(2_000);
    await working;
    expect(sends).toBe(3);
    expect(system.lines).toContainEqual(
      expect.objectContaining({ level: 'error', message: 'a message for agents could not be sent' }),
    );
  });
});

describe('a demand', () => {
  it('runs what is not due, and leaves the message for the next turn alone', async () => {
    const agent = newAgent({}, async () => ({ asOfMs: system.clock.now() }));
    await system.settle(agent);
    const before = await system.find(agent);
    await system.clock.pass(Math.max(0, before.nextRunMs - 20_000 - system.clock.now()));
    await system.work({ agents: [agent], dueMs: system.clock.now(), isDemanded: true });
    const after = await system.find(agent);
    expect(after.asOfMs).toBe(system.clock.now());
    expect(after.nextRunMs).toBe(before.nextRunMs);
    expect(system.sent).toEqual([]);

    await system.work(await system.waitForTurn(agent));
    expect(system.sent).toHaveLength(1);
  });

  it('that came too late for the turn makes the message of that turn die', async () => {
    const agent = newAgent({}, async () => ({ asOfMs: system.clock.now() }));
    await system.settle(agent);
    const turn = await system.waitForTurn(agent);
    await system.clock.pass(2_000);
    await system.work({ agents: turn.agents, dueMs: system.clock.now(), isDemanded: true });
    expect(system.sent).toHaveLength(1);
    await system.work(turn);
    expect(system.sent).toHaveLength(1);
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
