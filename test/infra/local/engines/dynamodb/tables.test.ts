import { randomBytes } from 'node:crypto';
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { TableEngine } from '#infra/local/engines/dynamodb/tables.ts';
import { cacheTable, type Table, tables, tasksTable } from '#platform/aws/tables.ts';
import { silentLog } from '#test/support/engines/silent-log.ts';
import { makeTempDir, type TempDir } from '#test/support/run/temp-dir.ts';

const Key = { pk: { S: 'a' }, sk: { S: 'b' } };

let dir: TempDir;
let file: string;

beforeEach(async () => {
  dir = await makeTempDir();
  file = path.join(dir.path, 'tables.sqlite');
});
afterEach(() => dir[Symbol.asyncDispose]());

function open(some: readonly Table[] = tables): TableEngine {
  return new TableEngine({ file, tables: some, log: silentLog });
}

interface Answer {
  readonly Item?: object;
  readonly Items?: readonly { readonly sk: { readonly S: string } }[];
  readonly Attributes?: object;
  readonly LastEvaluatedKey?: object;
  readonly ConsumedCapacity?: object;
}

/** @param input of the table of tasks, where it names no other */
function perform(engine: TableEngine, action: string, input: object): Promise<Answer> {
  return engine.perform(action, { TableName: tasksTable.name, ...input });
}

describe('tables', () => {
  test('are made, and found with their items at the next start', async () => {
    {
      await using engine = open();
      await perform(engine, 'PutItem', { Item: { ...Key, text: { S: 'kept' } } });
    }
    await using engine = open();
    expect((await perform(engine, 'GetItem', { Key })).Item).toEqual({ ...Key, text: { S: 'kept' } });
  });

  test('of a later release are added, and what is there is kept', async () => {
    {
      await using engine = open([tasksTable]);
      await perform(engine, 'PutItem', { Item: Key });
    }
    await using engine = open();
    await perform(engine, 'PutItem', { TableName: cacheTable.name, Item: Key });
    expect((await perform(engine, 'GetItem', { Key })).Item).toBeDefined();
    expect((await perform(engine, 'GetItem', { TableName: cacheTable.name, Key })).Item).toBeDefined();
  });

  test('of an earlier release, with bodies among the other attributes, go on', async () => {
    const TableName = cacheTable.name;
    const old = { ...Key, live: { N: '1' }, body: { S: 'old' } };
    {
      using database = new DatabaseSync(file);
      database.exec(
        'CREATE TABLE cache (pk TEXT NOT NULL, sk TEXT NOT NULL, bytes INTEGER NOT NULL, item TEXT NOT NULL, ' +
          'PRIMARY KEY (pk, sk)) STRICT, WITHOUT ROWID',
      );
      database.prepare("INSERT INTO cache VALUES ('a', 'b', 20, ?)").run(JSON.stringify(old));
    }
    await using engine = open();
    expect((await perform(engine, 'GetItem', { TableName, Key })).Item).toEqual(old);
    const added = { ...Key, sk: { S: 'c' }, body: { B: new Uint8Array([0, 255]) } };
    await perform(engine, 'PutItem', { TableName, Item: added });
    const all = {
      TableName,
      KeyConditionExpression: 'pk = :pk',
      ExpressionAttributeValues: { ':pk': Key.pk },
    };
    expect((await perform(engine, 'Query', all)).Items).toEqual([old, added]);
  });

  test('leave bodies out for who does not ask for them, in whatever way', async () => {
    await using engine = open();
    const TableName = cacheTable.name;
    const [first, second] = ['b', 'c'].map((sk) => ({ ...Key, sk: { S: sk }, body: { S: `body ${sk}` } }));
    for (const Item of [first, second]) await perform(engine, 'PutItem', { TableName, Item });
    const query = async (input: object) => {
      const pk = { ':pk': Key.pk };
      const all = { TableName, KeyConditionExpression: 'pk = :pk', ExpressionAttributeValues: pk };
      return (await perform(engine, 'Query', { ...all, ...input })).Items;
    };
    const filter = {
      FilterExpression: 'body = :body',
      ExpressionAttributeValues: { ':pk': Key.pk, ':body': { S: 'body c' } },
    };
    expect(await query({ ProjectionExpression: 'sk' })).toEqual([{ sk: { S: 'b' } }, { sk: { S: 'c' } }]);
    expect(await query({ ProjectionExpression: 'body' })).toEqual(
      [first, second].map((one) => ({ body: one?.body })),
    );
    const named = { ProjectionExpression: '#b', ExpressionAttributeNames: { '#b': 'body' } };
    expect(await query({ ...named, ...filter })).toEqual([{ body: second?.body }]);
    expect(await query({ ProjectionExpression: 'sk', ...filter })).toEqual([{ sk: { S: 'c' } }]);
    expect(await query(filter)).toEqual([second]);
  });

  test('free the disk of what was overwritten', async () => {
    {
      await using engine = open();
      for (let times = 0; times < 200; times += 1) {
        const noise = { S: randomBytes(48 * 1024).toString('base64') };
        await perform(engine, 'PutItem', { Item: { ...Key, noise } });
      }
    }
    expect((await stat(file)).size).toBeLessThan(1_000_000);
  });

  test('refuse calls once they are closed, and answer those before', async () => {
    const engine = open();
    const before = perform(engine, 'PutItem', { Item: Key });
    await engine[Symbol.asyncDispose]();
    expect(await before).toEqual({});
    await expect(perform(engine, 'GetItem', { Key })).rejects.toThrow('The tables are being closed');
  });
});

describe('items', () => {
  test.each([
    ['of more than 400 KB', { ...Key, text: { S: 'x'.repeat(400 * 1024) } }, 'Item size has exceeded'],
    ['with an empty key', { ...Key, sk: { S: '' } }, 'cannot contain an empty string value. Key: sk'],
    ['with a key of another type', { ...Key, sk: { N: '1' } }, 'Missing the key sk'],
    ['with a key that is too long', { ...Key, sk: { S: 'ü'.repeat(600) } }, '1024 bytes'],
    ['with what is no number', { ...Key, count: { N: 'many' } }, 'cannot be converted to a numeric value'],
    ['with a value of no type', { ...Key, count: {} }, 'must contain exactly one of the supported datatypes'],
  ])('%s are refused as in AWS', async (_, Item, message) => {
    await using engine = open();
    await expect(perform(engine, 'PutItem', { Item })).rejects.toMatchObject({
      ...{ code: 'ValidationException', message: expect.stringContaining(message) },
    });
  });

  test('count as DynamoDB counts them', async () => {
    await using engine = open();
    const ReturnConsumedCapacity = 'TOTAL';
    const Item = { ...Key, text: { S: 'x'.repeat(5_000) } };
    const put = await perform(engine, 'PutItem', { Item, ReturnConsumedCapacity });
    expect(put.ConsumedCapacity).toMatchObject({ CapacityUnits: 5 });
    const get = await perform(engine, 'GetItem', { Key, ReturnConsumedCapacity });
    expect(get.ConsumedCapacity).toMatchObject({ CapacityUnits: 1 });
    const consistent = await perform(engine, 'GetItem', {
      Key,
      ConsistentRead: true,
      ReturnConsumedCapacity,
    });
    expect(consistent.ConsumedCapacity).toMatchObject({ CapacityUnits: 2 });
    // The larger one of before and after.
    const smaller = await perform(engine, 'PutItem', { Item: Key, ReturnConsumedCapacity });
    expect(smaller.ConsumedCapacity).toMatchObject({ CapacityUnits: 5 });
  });

  test('keep any text and any bytes, and are sorted by the bytes of their keys', async () => {
    await using engine = open();
    const sortKeys = ['a', 'a\0', 'a\0b', 'aa', '\uD7FF', '\uE000', '\uFFFD', '\u{10000}', '\u{10FFFF}'];
    for (const sk of sortKeys.toReversed()) {
      const Item = {
        ...Key,
        sk: { S: sk },
        text: { S: `{"B":"${sk}"}` },
        bytes: { B: Uint8Array.of(0, 200) },
      };
      await perform(engine, 'PutItem', { Item });
      expect((await perform(engine, 'GetItem', { Key: { ...Key, sk: { S: sk } } })).Item).toEqual(Item);
    }
    const ask = async (condition: string, values: object = {}) => {
      const { Items = [] } = await perform(engine, 'Query', {
        KeyConditionExpression: `pk = :pk${condition}`,
        ExpressionAttributeValues: { ':pk': Key.pk, ...values },
      });
      return Items.map(({ sk }) => sk.S);
    };
    expect(await ask('')).toEqual(sortKeys);
    expect(await ask(' AND begins_with(sk, :p)', { ':p': { S: 'a\0' } })).toEqual(['a\0', 'a\0b']);
    expect(await ask(' AND begins_with(sk, :p)', { ':p': { S: '\uD7FF' } })).toEqual(['\uD7FF']);
    expect(await ask(' AND begins_with(sk, :p)', { ':p': { S: '\u{10FFFF}' } })).toEqual(['\u{10FFFF}']);
    expect(await ask(' AND sk > :s', { ':s': { S: '\uE000' } })).toEqual([
      '\uFFFD',
      '\u{10000}',
      '\u{10FFFF}',
    ]);
  });

  test('come in pages of a megabyte, and of as many as are asked for', async () => {
    await using engine = open();
    for (let index = 0; index < 8; index += 1) {
      const Item = { ...Key, sk: { S: String(index) }, text: { S: 'x'.repeat(300_000) } };
      await perform(engine, 'PutItem', { Item });
    }
    const query = { KeyConditionExpression: 'pk = :pk', ExpressionAttributeValues: { ':pk': Key.pk } };
    const page = await perform(engine, 'Query', query);
    expect(page.Items).toHaveLength(3);
    expect(page.LastEvaluatedKey).toEqual({ ...Key, sk: { S: '2' } });
    const limited = { ...query, Limit: 2, ExclusiveStartKey: page.LastEvaluatedKey };
    const next = await perform(engine, 'Query', limited);
    expect(next.Items?.map(({ sk }) => sk.S)).toEqual(['3', '4']);
    const filtered = { FilterExpression: 'sk > :s', ExpressionAttributeValues: { ':s': { S: '6' } } };
    expect((await perform(engine, 'Scan', filtered)).Items).toEqual([]);
  });
});
