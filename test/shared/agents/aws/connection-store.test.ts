import { expect, test } from 'vitest';
import type { AgentConnection } from '#agents/agent-connections.ts';
import { accountConnectionsMax, connectionLifeMs } from '#agents/agent-connections.ts';
import { DynamoAgentSessionStore } from '#agents/aws/agent-session-store.ts';
import { createConnectionStore } from '#agents/aws/connection-store.ts';
import { ItemTable } from '#platform/aws/table.ts';
import { tasksTable } from '#platform/aws/tables.ts';
import { useLocalTables } from '#test/support/engines/local-tables.ts';
import { createStandingClock, testRandomness } from '#test/support/run/test-clock.ts';

const openTable = useLocalTables();

async function open() {
  const { tableName, openDocuments } = openTable(tasksTable);
  const clock = createStandingClock();
  const table = new ItemTable(openDocuments(), tableName);
  const sessions = new DynamoAgentSessionStore({ table, clock });
  const store = createConnectionStore({ table, clock, sessions });
  const account = testRandomness.id();
  const session = testRandomness.id();
  await sessions.open({
    ...{ id: session, agentId: 'agent-1', version: '1', zone: 'z', accounts: [], warnings: [] },
    ...{ openedAtMs: clock.now(), seenAtMs: clock.now(), isClosed: false, protocol: 1, journalFormat: 1 },
  });
  const toConnection = (over: Partial<AgentConnection> = {}): AgentConnection => ({
    ...{ id: testRandomness.id(), account, session, agentId: 'agent-1', zone: 'z', transport: 'websocket' },
    ...{ holder: 'pod-1', connectedAtMs: clock.now(), ...over },
  });
  return { clock, table, sessions, store, account, session, toConnection };
}

test('connections of an account are listed, the newest first, until they are removed', async () => {
  const { clock, store, account, toConnection } = await open();
  const old = toConnection();
  clock.advance(1);
  const young = toConnection({ holder: undefined });
  expect(await store.add(young)).toBe(true);
  expect(await store.add(old)).toBe(true);
  expect(await store.list(account)).toEqual([young, old]);
  expect(await store.list(testRandomness.id())).toEqual([]);
  await store.remove(young);
  await store.remove(young);
  expect(await store.list(account)).toEqual([old]);
});

test('one of a session that is closed, or unknown, is not stored', async () => {
  const { sessions, store, account, session, toConnection } = await open();
  expect(await store.add(toConnection({ session: 'unknown' }))).toBe(false);
  await sessions.close(session);
  expect(await store.add(toConnection())).toBe(false);
  expect(await store.list(account)).toEqual([]);
});

test('they are forgotten after their life, and no more are listed than an account may have', async () => {
  const { clock, store, account, toConnection } = await open();
  for (let count = 0; count < accountConnectionsMax + 2; count += 1) {
    clock.advance(1_000);
    await store.add(toConnection({ id: `connection-${count}` }));
  }
  const listed = await store.list(account);
  expect(listed).toHaveLength(accountConnectionsMax);
  expect(listed[0]?.id).toBe(`connection-${accountConnectionsMax + 1}`);
  clock.advance(connectionLifeMs - 1_000);
  expect((await store.list(account))[0]?.id).toBe(listed[0]?.id);
  clock.advance(2_000);
  expect(await store.list(account)).toEqual([]);
});
