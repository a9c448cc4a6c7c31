import { beforeEach, expect, it } from 'vitest';
import { cacheTable } from '../../../../shared/aws/tables.ts';
import { idleAfterMs, idleIntervalMs } from '../../../../shared/core/agents/agent-schedule.ts';
import { noteUse } from '../../../../shared/core/agents/note-use.ts';
import { newAgent, openAgentSystem, type TestAgentSystem } from '../../../support/agent-system.ts';
import { useLocalTables } from '../../../support/local-tables.ts';

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
  return agent.account;
}

it('makes an idle account run at once, and then at its interval', async () => {
  const account = await settleIdle();
  await noteUse(system, [account, account]);
  expect(system.sent).toHaveLength(1);
  await system.live(100_000);
  const found = (await system.agents.list())[0];
  expect(found?.lastRun?.startedAtMs).toBeGreaterThan(system.clock.now() - 31_000);
  expect((found?.nextRunMs ?? 0) - system.clock.now()).toBeLessThanOrEqual(30_000);

  system.sent.length = 0;
  await noteUse(system, [account]);
  expect(system.sent).toEqual([]);
});

it('never throws: the log says what went wrong, and the scheduler sends', async () => {
  const account = await settleIdle();
  system.onSend = () => {
    throw new Error('SQS is away');
  };
  const noting = noteUse(system, [account]);
  await system.clock.pass(2_000);
  await noting;
  expect(system.lines.at(-1)).toMatchObject({ message: 'a message for agents could not be sent' });
  const away = { ...system, agents: { wake: () => Promise.reject(new Error('DynamoDB is away')) } };
  await noteUse(away, [account]);
  expect(system.lines.at(-1)).toMatchObject({
    level: 'warn',
    message: 'the use of an account could not be noted',
    fields: { account, cause: 'DynamoDB is away' },
  });
});
