import { describe, expect, it, test } from 'vitest';
import { getCachingAgentKey } from '#caching/aws/agents/caching-agent-items.ts';
import { DynamoCachingAgentStore } from '#caching/aws/agents/caching-agent-store.ts';
import { createCacheStore } from '#caching/aws/store/cache-store.ts';
import { toRevision } from '#caching/store/revision.ts';
import { cacheReader, ItemReader, MalformedItemError } from '#platform/aws/item-reader.ts';
import { type Item, ItemTable, ItemUpdate } from '#platform/aws/table.ts';
import { cacheTable, tasksTable } from '#platform/aws/tables.ts';
import { systemClock, systemRandomness } from '#platform/services/system.ts';
import { getHeaderKey } from '#tasks/aws/task-items.ts';
import { DynamoTaskStore } from '#tasks/aws/task-store.ts';
import { useLocalTables } from '#test/support/engines/local-tables.ts';

const key = { pk: 'OBJECT#prod#pod', sk: 'shop#cart' };
const secret = 'hunter2';

/** Each method, what it reads, and what it does not. */
const readings: readonly {
  readonly name: keyof ItemReader;
  readonly good: readonly unknown[];
  readonly bad: readonly unknown[];
  readonly expected: string;
}[] = [
  { name: 'getText', good: ['', 'a'], bad: [undefined, 1, [secret]], expected: 'a text' },
  { name: 'findText', good: [undefined, 'a'], bad: [null, 1], expected: 'a text' },
  { name: 'getNumber', good: [0, 1.5], bad: [undefined, secret], expected: 'a number' },
  { name: 'findNumber', good: [undefined, 1], bad: [secret, 1n], expected: 'a number' },
  { name: 'findBoolean', good: [undefined, false], bad: ['true', 0], expected: 'true or false' },
  { name: 'getBytes', good: [new Uint8Array(2)], bad: [undefined, secret], expected: 'bytes' },
  { name: 'getTextOrBytes', good: ['a', new Uint8Array(2)], bad: [7], expected: 'a text or bytes' },
  { name: 'getRevision', good: [toRevision(1, '7')], bad: [secret, undefined, 7], expected: 'a revision' },
  { name: 'getTexts', good: [[], ['a']], bad: [[secret, 1], 'a', undefined], expected: 'a list of texts' },
  { name: 'findTexts', good: [undefined, ['a']], bad: [{ 0: secret }], expected: 'a list of texts' },
  { name: 'findMap', good: [undefined, { a: 1 }], bad: [[], secret, new Uint8Array(1)], expected: 'a map' },
];

describe.each(readings)('$name', ({ name, good, bad, expected }) => {
  const read = (item: Item): unknown => Reflect.apply(cacheReader[name], cacheReader, [item, 'state']);

  it('reads what was written', () => {
    for (const value of good) expect(read({ ...key, state: value })).toBe(value);
  });

  it('names table, key and attribute of anything else', () => {
    const message = `table cache: item OBJECT#prod#pod shop#cart: attribute state: expected ${expected}`;
    for (const value of bad)
      expect(() => read({ ...key, state: value })).toThrow(new MalformedItemError(message));
  });
});

test('JSON is read, and quoted in no error', () => {
  const isOne = (value: unknown): value is { a: 1 } => JSON.stringify(value) === '{"a":1}';
  expect(cacheReader.getJson({ ...key, state: '{"a":1}' }, 'state', isOne)).toEqual({ a: 1 });
  expect(cacheReader.findJson(key, 'state', isOne)).toBeUndefined();
  for (const state of [`{"a":"${secret}"}`, `{"${secret}`]) {
    expect(() => cacheReader.getJson({ ...key, state }, 'state', isOne)).toThrow(
      /^table cache: item OBJECT#prod#pod shop#cart: attribute state: expected the JSON that was written$/,
    );
  }
});

test('an item that was read without its partition, and a member of a map, are named as well', () => {
  const reader = new ItemReader({ name: 'tasks' });
  expect(() => reader.getText({ sk: 'b' }, 'c', 'a')).toThrow('item a b: attribute c:');
  const where = reader.describeMap({ pk: 'a', sk: 'b' }, 'chunks');
  expect(() => reader.getText({}, 'hash', where)).toThrow('item a b: attribute chunks: attribute hash:');
});

describe('what somebody changed in the store', () => {
  const open = useLocalTables();
  const system = { clock: systemClock, randomness: systemRandomness };

  it.each([
    { attribute: 'state', value: secret, expected: 'the state of a task' },
    { attribute: 'fence', value: secret, expected: 'a number' },
    { attribute: 'caller', value: { user: [secret] }, expected: 'a map of texts' },
    { attribute: 'journal', value: [`{"${secret}":1}`], expected: 'journal entries' },
  ])('of a task: $attribute', async ({ attribute, value, expected }) => {
    const { openDocuments, tableName } = open(tasksTable);
    const documents = openDocuments();
    const table = new ItemTable(documents, tableName);
    const tasks = new DynamoTaskStore({ table, ...system });
    const submission = { operations: [], accounts: ['prod'], isRestricted: false };
    const entry = { key: 'accepted', lines: [] };
    const task = { id: attribute, requestId: '', account: 'prod', caller: {}, entry, ...submission };
    await tasks.accept(task);
    expect(await tasks.find(attribute)).toMatchObject({ id: attribute });

    const update = new ItemUpdate().set({ [attribute]: value }).require('taskId', '=', attribute);
    await table.update(getHeaderKey(attribute), update);

    const message = `table tasks: item TASK#${attribute} HEADER: attribute ${attribute}: expected ${expected}`;
    expect(await tasks.find(attribute)).toMatchObject({ unreadable: message });
  });

  it('of an agent and of an object', async () => {
    const { openDocuments, tableName } = open(cacheTable);
    const documents = openDocuments();
    const table = new ItemTable(documents, tableName);
    const told: unknown[] = [];
    const log = { error: (_line: string, fields: unknown) => told.push(fields) };
    const agents = new DynamoCachingAgentStore({ documents, tableName, log, ...system });
    await agents.sync([{ account: 'prod', name: 'core', provider: 'kubernetes', intervalMs: 30_000 }]);
    const agentKey = getCachingAgentKey({ account: 'prod', name: 'core' });
    const lastRun = JSON.stringify({ outcome: secret });
    await table.put({ ...(await table.get(agentKey)), lastRun });
    expect(await agents.list()).toEqual([]);
    const wrong = 'attribute lastRun: expected the JSON that was written';
    expect(told).toEqual([{ account: 'prod', cause: expect.stringContaining(wrong) }]);

    const cache = createCacheStore({ documents, tableName, log, ...system });
    const objectKey = { account: 'prod', kind: 'pod', location: 'shop', name: 'cart' };
    await cache.putObject({ key: objectKey, revision: toRevision(1, '7'), body: '{}' });
    await table.put({ ...(await table.get(key)), ...key, version: secret });
    const heads = async () => {
      for await (const page of cache.listHeads('prod', 'pod')) expect(page).toEqual([]);
    };
    const message = 'table cache: item OBJECT#prod#pod shop#cart: attribute version: expected a revision';
    expect(await cache.getObjects([objectKey])).toEqual([undefined]);
    await heads();
    expect(told.slice(1)).toEqual([{ account: 'prod', cause: message }]);
  });
});
