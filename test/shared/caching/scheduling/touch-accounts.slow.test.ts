import { beforeEach, expect, it } from 'vitest';
import { idleAfterMs, idleIntervalMs } from '#caching/scheduling/caching-agent-schedule.ts';
import { touchAccounts } from '#caching/scheduling/touch-accounts.ts';
import { cacheTable } from '#platform/aws/tables.ts';
import type { TestAgentSystem } from '#test/support/agents/agent-system.ts';
import { newAgent, openAgentSystem, takes } from '#test/support/agents/agent-system.ts';
import { useLocalTables } from '#test/support/engines/local-tables.ts';

const open = useLocalTables();
let system: TestAgentSystem;

beforeEach(async () => {
  system = openAgentSystem(open(cacheTable));
  await system.clear();
});

/** An agent whose account was not used for so long that it runs every 5 minutes. */
async function settleIdle(): Promise<string> {
  const agent = newAgent({});
  system.wanted = [agent];
  await system.live(idleAfterMs + 2 * idleIntervalMs);
  const found = (await system.agents.list())[0];
  expect((found?.nextRunMs ?? 0) - (found?.lastRun?.startedAtMs ?? 0)).toBeGreaterThan(
    idleIntervalMs - 60_000,
  );
  system.sent.length = 0;
  system.lags.length = 0;
  return agent.account;
}

it('makes an idle account run at once, and then at its interval', async () => {
  const account = await settleIdle();
  await touchAccounts(system, [account, account]);
  expect(system.sent[0]?.comesMs).toBeLessThanOrEqual(system.clock.now() + 30_000);
  await system.live(100_000);
  expect(system.lags.length).toBeGreaterThanOrEqual(3);
  const found = (await system.agents.list())[0];
  expect(found?.lastRun?.startedAtMs).toBeGreaterThan(system.clock.now() - 31_000);
  expect((found?.nextRunMs ?? 0) - system.clock.now()).toBeLessThanOrEqual(30_000);

  system.sent.length = 0;
  await touchAccounts(system, [account]);
  expect(system.sent).toEqual([]);
});

it('makes an account that was about to be idle run at its interval, and one that is run meanwhile', async () => {
  const agent = newAgent({}, async (run) => {
    await takes(system.clock, 5_000, run);
    return {};
  });
  system.wanted = [agent];
  for (const usedMs of [idleAfterMs - 40_000, idleAfterMs + idleIntervalMs]) {
    await system.live(usedMs);
    await system.live(600_000, () => system.lags.length > 0);
    const dueMs = (await system.find(agent)).nextRunMs;
    await system.live(Math.max(0, dueMs + 2_000 - system.clock.now()));
    expect((await system.find(agent)).lease).toBeDefined();
    await touchAccounts(system, [agent.account]);
    system.lags.length = 0;
    await system.live(120_000);
    expect(system.lags.length).toBeGreaterThanOrEqual(4);
    expect(Math.max(...system.lags)).toBeLessThanOrEqual(1_000);
  }
});

it('never throws: the log says what went wrong, and the scheduler sends', async () => {
  const account = await settleIdle();
  system.onSend = () => {
    throw new Error('SQS is away');
  };
  const noting = touchAccounts(system, [account]);
  await system.clock.pass(2_000);
  await noting;
  expect(system.lines.at(-1)).toMatchObject({ message: 'messages for agents could not be sent' });
  const away = { ...system, agents: { wake: () => Promise.reject(new Error('DynamoDB is away')) } };
  await touchAccounts(away, [account]);
  expect(system.lines.at(-1)).toMatchObject({
    level: 'warn',
    message: 'the use of an account could not be noted',
    fields: { account, cause: 'DynamoDB is away' },
  });
});
