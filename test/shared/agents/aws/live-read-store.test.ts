import { expect, test } from 'vitest';
import { DynamoLiveReadStore } from '#agents/aws/live-read-store.ts';
import { type LiveRead, liveReadLeaseMs, liveReadLifeMs } from '#agents/live-read.ts';
import { ItemTable } from '#platform/aws/table.ts';
import { tasksTable } from '#platform/aws/tables.ts';
import { useLocalTables } from '#test/support/engines/local-tables.ts';
import { createStandingClock, testRandomness } from '#test/support/run/test-clock.ts';

const openTable = useLocalTables();

function open() {
  const { tableName, openDocuments } = openTable(tasksTable);
  const clock = createStandingClock();
  const table = new ItemTable(openDocuments(), tableName);
  const store = new DynamoLiveReadStore({ table, clock });
  const account = testRandomness.id();
  const add = async (): Promise<LiveRead> => {
    const read = {
      ...{ id: testRandomness.id(), account, method: 'manifests.get', args: '{"name":"x"}' },
      acceptedAtMs: clock.now(),
    };
    await store.add(read);
    return read;
  };
  return { clock, table, store, account, add };
}

test('a read is listed and found until it is removed', async () => {
  const { clock, table, store, account, add } = open();
  const first = await add();
  clock.advance(1);
  const second = await add();
  expect(await store.list(account, 10)).toEqual([first.id, second.id]);
  expect(await store.list(testRandomness.id(), 10)).toEqual([]);
  expect(await store.find(first.id)).toEqual({ ...first, takes: 0, takenUntilMs: 0 });

  await store.take(first.id);
  await store.putPart({ id: first.id, take: 1, part: 0 }, Buffer.from('bytes'));
  const answer = { take: 1, parts: 1, failure: undefined };
  await store.finish(first.id, answer);
  await store.remove(first, answer);
  expect(await store.list(account, 10)).toEqual([second.id]);
  expect(await store.find(first.id)).toBeUndefined();
  expect(await table.query(`READ#${first.id}`)).toEqual([]);
});

test('an agent that took a read has it for itself for a while', async () => {
  const { clock, store, add } = open();
  const { id } = await add();
  expect(await store.take(id)).toBe(1);
  expect(await store.take(id)).toBeUndefined();
  clock.advance(liveReadLeaseMs - 1);
  expect(await store.take(id)).toBeUndefined();
  clock.advance(1);
  expect(await store.take(id)).toBe(2);

  // The first one is late: its part stands apart, and it cannot end the read.
  await store.putPart({ id, take: 1, part: 0 }, Buffer.from('late'));
  await store.putPart({ id, take: 2, part: 0 }, Buffer.from('right'));
  expect(await store.finish(id, { take: 1, parts: 1, failure: undefined })).toBe(false);
  expect(await store.finish(id, { take: 2, parts: 1, failure: undefined })).toBe(true);
  expect(await store.finish(id, { take: 2, parts: 1, failure: 'late' })).toBe(false);
  expect((await store.find(id))?.answer).toEqual({ take: 2, parts: 1, failure: undefined });
  expect(Buffer.from((await store.findPart({ id, take: 2, part: 0 })) ?? []).toString()).toBe('right');
  expect(await store.findPart({ id, take: 2, part: 1 })).toBeUndefined();
  clock.advance(liveReadLeaseMs);
  expect(await store.take(id)).toBeUndefined();
});

test('a small answer is kept with its read', async () => {
  const { table, store, add } = open();
  const read = await add();
  const take = (await store.take(read.id)) ?? 0;
  const answer = { take, parts: 0, bytes: Buffer.from('packed'), failure: undefined };
  expect(await store.finish(read.id, answer)).toBe(true);
  const found = (await store.find(read.id))?.answer;
  expect([found?.parts, Buffer.from(found?.bytes ?? []).toString()]).toEqual([0, 'packed']);
  await store.remove(read, found);
  expect(await table.query(`READ#${read.id}`)).toEqual([]);
});

test('a failure is kept as it was told', async () => {
  const { store, add } = open();
  const { id } = await add();
  const take = (await store.take(id)) ?? 0;
  expect(await store.finish(id, { take, parts: 0, failure: '{"name":"x"}' })).toBe(true);
  expect((await store.find(id))?.answer).toEqual({ take, parts: 0, failure: '{"name":"x"}' });
});

test('what nobody removed is not found after a minute, and its row does not stand before others', async () => {
  const { clock, table, store, account, add } = open();
  const { id } = await add();
  clock.advance(liveReadLifeMs + 1_000);
  expect(await store.find(id)).toBeUndefined();
  expect(await store.take(id)).toBeUndefined();
  expect(await store.list(account, 10)).toEqual([]);
  expect(await table.query(`READS#${account}`)).toEqual([]);
});
