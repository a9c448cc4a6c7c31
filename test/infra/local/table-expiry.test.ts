import { DynamoDBClient, GetItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { expect, test } from 'vitest';
import { startTableExpiry } from '#infra/local/table-expiry.ts';
import { tables, tasksTable } from '#platform/aws/tables.ts';
import { startDynamoDb } from '#test/support/engines/engine-servers.ts';
import { localClientOptions } from '#test/support/engines/local-aws-client.ts';
import { makeTempDir } from '#test/support/run/temp-dir.ts';
import { createTestClock } from '#test/support/run/test-clock.ts';

const silent = { debug() {}, info() {}, warn() {}, error() {} };

test('deletes what has expired, page by page, and nothing else', async () => {
  await using temp = await makeTempDir();
  await using server = await startDynamoDb({ dir: temp.path, tables });
  const clock = createTestClock();
  const dynamodb = new DynamoDBClient(server.clientOptions);
  const table = openTable(dynamodb);
  const nowSeconds = Math.floor(clock.now() / 1000);
  await Promise.all(Array.from({ length: 250 }, (_, index) => table.put(`old-${index}`, nowSeconds - 1)));
  await table.put('lives', nowSeconds + 10 ** 9);
  await table.put('forever', undefined);
  await table.put('soon', nowSeconds + 600);

  await using _expiry = startTableExpiry({ tables, dynamodb, clock, log: silent });
  expect(await table.has('old-0')).toBe(true);
  clock.advance(60_000);
  await expect.poll(() => table.count('old-', 250)).toBe(0);
  expect(await table.has('soon')).toBe(true);

  // The run before may not have ended: its pause begins then.
  const hasSoon = (): Promise<boolean> => {
    clock.advance(3600_000);
    return table.has('soon');
  };
  await expect.poll(hasSoon).toBe(false);
  expect(await table.has('lives')).toBe(true);
  expect(await table.has('forever')).toBe(true);
});

test('ends at once on disposal', async () => {
  const dynamodb = new DynamoDBClient({ ...localClientOptions, endpoint: 'http://127.0.0.1:1' });
  const expiry = startTableExpiry({ tables, dynamodb, clock: createTestClock(), log: silent });
  await expiry[Symbol.asyncDispose]();
  dynamodb.destroy();
});

function openTable(client: DynamoDBClient) {
  const TableName = tasksTable.name;
  const toKey = (name: string) => ({ pk: { S: name }, sk: { S: 'x' } });
  const has = async (name: string): Promise<boolean> => {
    const answer = await client.send(new GetItemCommand({ TableName, Key: toKey(name) }));
    return answer.Item !== undefined;
  };
  return {
    has,
    async put(name: string, expiresAt: number | undefined) {
      const ttl = expiresAt === undefined ? {} : { expiresAt: { N: String(expiresAt) } };
      await client.send(new PutItemCommand({ TableName, Item: { ...toKey(name), ...ttl } }));
    },
    async count(prefix: string, end: number): Promise<number> {
      const found = await Promise.all(Array.from({ length: end }, (_, index) => has(`${prefix}${index}`)));
      return found.filter(Boolean).length;
    },
  };
}
