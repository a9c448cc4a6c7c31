import { expect, test } from 'vitest';
import { sessionLifeMs, sessionSilenceMs } from '#agents/agent-session.ts';
import { DynamoAgentSessionStore } from '#agents/aws/agent-session-store.ts';
import { ItemTable } from '#platform/aws/table.ts';
import { tasksTable } from '#platform/aws/tables.ts';
import { agentSilenceMs } from '#tasks/task-inbox.ts';
import { useLocalTables } from '#test/support/engines/local-tables.ts';
import { createStandingClock, testRandomness } from '#test/support/run/test-clock.ts';

const openTable = useLocalTables();

function start() {
  const { tableName, openDocuments } = openTable(tasksTable);
  const clock = createStandingClock();
  const table = new ItemTable(openDocuments(), tableName);
  const [account, other] = [testRandomness.id(), testRandomness.id()];
  /** Opens a session, through a table that may die behind some writes. */
  const open = async (agentId: string, names: readonly string[] = [account], through = table) => {
    clock.advance(1);
    const [id, now] = [testRandomness.id(), clock.now()];
    await new DynamoAgentSessionStore({ table: through, clock }).open({
      ...{
        id,
        agentId,
        version: '1',
        zone: '',
        protocol: 1,
        journalFormat: 1,
        openedAtMs: now,
        seenAtMs: now,
      },
      ...{ isClosed: false, warnings: [] },
      accounts: names.map((name) => ({ name, identity: 'x', generation: 0 })),
    });
    return id;
  };
  const store = new DynamoAgentSessionStore({ table, clock });
  const listRows = async (name: string) => (await table.query(`SEEN#${name}`)).length;
  const listIds = async (name: string) => (await store.listOf(name)).map(({ id }) => id);
  return { clock, table, store, account, other, open, listRows, listIds };
}

test('an account knows its own sessions alone, the newest first', async () => {
  const { store, account, other, open, listIds } = start();
  const first = await open('one');
  const both = await open('two', [account, other]);
  await open('three', [other]);

  expect(await listIds(account)).toEqual([both, first]);
  expect((await store.findSeen(account))?.isConnected).toBe(true);
  expect(await store.findSeen(testRandomness.id())).toBeUndefined();
});

test('what it costs to know whether an agent is there does not grow with sessions that are over', async () => {
  const { clock, store, account, open, listIds, listRows } = start();
  const ids: string[] = [];
  for (const index of Array.from({ length: 30 }).keys()) ids.push(await open(`agent-${index}`));
  await Promise.all(ids.slice(0, 10).map((id) => store.close(id)));
  clock.advance(sessionSilenceMs + 1);
  const alive = await open('alive');

  expect(await listIds(account)).toEqual([alive]);
  expect(await listRows(account)).toBe(1);
  expect(await store.findSeen(account)).toMatchObject({ agentId: 'alive', isConnected: true });
  // Silent, but its token holds: it may come back, and then still counts.
  clock.advance(agentSilenceMs);
  expect(await store.findSeen(account)).toMatchObject({ agentId: 'alive', isConnected: false });
  expect(await store.touch(alive, clock.now())).toBe(true);
  expect(await store.findSeen(account)).toMatchObject({ agentId: 'alive', isConnected: true });
});

test('the one that was seen last is remembered for a day when none is there', async () => {
  const { clock, store, account, open, listIds } = start();
  await open('older');
  const last = await open('last');
  await store.close(last);
  expect(await store.touch(last, clock.now())).toBe(false);
  clock.advance(sessionSilenceMs + 1);

  expect(await listIds(account)).toEqual([last]);
  expect(await store.findSeen(account)).toMatchObject({ agentId: 'last', isConnected: false });
  clock.advance(sessionLifeMs * 4);
  expect(await store.findSeen(account)).toBeUndefined();
});

test('who dies while it opens a session leaves rows that mean nothing', async () => {
  const { table, store, account, open, listIds } = start();
  for (const writes of [1, 2]) {
    let left = writes;
    const dying = new Proxy(table, {
      get: (target, name) =>
        name === 'put'
          ? async (item: Parameters<ItemTable['put']>[0]) => {
              if (left === 0) throw new Error('dead');
              left -= 1;
              await target.put(item);
            }
          : Reflect.get(target, name),
    });
    await expect(open(`dies-${writes}`, [account], dying)).rejects.toThrow('dead');
  }
  expect(await store.findSeen(account)).toBeUndefined();
  const alive = await open('alive');
  expect(await listIds(account)).toEqual([alive]);
});

test('a session remembers by which key each account was proved, and whom for', async () => {
  const { clock, table, store } = start();
  const id = testRandomness.id();
  const proofs = { audience: 'busdriver:local', openedAtMs: clock.now(), seenAtMs: clock.now() };
  const accounts = [
    { name: 'by-token', identity: '["issuer","subject"]', key: 'thumbprint', generation: 2 },
    { name: 'by-role', identity: '{"role":"arn"}', key: undefined, generation: 0 },
  ];
  await store.open({
    ...{ id, agentId: 'one', version: '1', zone: '', protocol: 1, journalFormat: 1, ...proofs },
    ...{ isClosed: false, warnings: [], accounts },
  });
  expect(await store.find(id)).toMatchObject({ audience: 'busdriver:local', accounts });

  // As a release before stored it.
  const { keys: _, audience: __, ...before } = (await table.get({ pk: `SESSION#${id}`, sk: '#' })) ?? {};
  await table.put(before);
  const found = await store.find(id);
  expect([found?.audience, found?.accounts.map(({ key }) => key)]).toEqual([
    undefined,
    [undefined, undefined],
  ]);
});
