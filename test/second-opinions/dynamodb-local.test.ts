import { join } from 'node:path';
import { CreateTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { TableEngine } from '#infra/local/engines/dynamodb/tables.ts';
import { accountsTable, cacheTable, type Table, tables, tasksTable } from '#platform/aws/tables.ts';
import { testAccountStore } from '#test/contracts/account-store.contract.ts';
import { testAgentStore } from '#test/contracts/agent-store.contract.ts';
import { testCacheStore } from '#test/contracts/cache-store.contract.ts';
import { countFewCases, type StoreEngine } from '#test/contracts/store-bench.ts';
import { testTaskStore } from '#test/contracts/task-store.contract.ts';
import type { JavaEngine } from '#test/support/engines/java-engines.ts';
import { describeWithJavaEngine } from '#test/support/engines/java-suite.ts';
import { localClientOptions } from '#test/support/engines/local-aws-client.ts';
import { openTableClient } from '#test/support/engines/local-tables.ts';
import { silentLog } from '#test/support/engines/silent-log.ts';
import { toStoreTestClient } from '#test/support/engines/store-test-client.ts';
import { makeTempDir } from '#test/support/run/temp-dir.ts';
import { chooseSize } from '#test/support/run/test-size.ts';
import { drawItems, observe, SentCalls } from './sent-expressions.ts';

await describeWithJavaEngine('dynamodb-local', (start) => {
  let engine: JavaEngine;
  let client: DynamoDBClient;
  const sent = new SentCalls();

  beforeAll(async () => {
    engine = await start();
    client = new DynamoDBClient({ ...localClientOptions, endpoint: engine.url });
    await Promise.all(tables.map(createTable));
  });

  afterAll(async () => {
    client?.destroy();
    await engine?.[Symbol.asyncDispose]();
  });

  testAccountStore('DynamoDB Local', () => open(accountsTable));
  testTaskStore('DynamoDB Local', () => open(tasksTable), countFewCases);
  testCacheStore('DynamoDB Local', () => open(cacheTable), countFewCases);
  testAgentStore('DynamoDB Local', () => open(cacheTable), countFewCases);

  it('means the same as our own engine by each expression that the stores sent, whatever the item is', async () => {
    await using dir = await makeTempDir();
    const table: Table = { ...tasksTable, name: 'expressions' };
    const file = join(dir.path, 'tables.sqlite');
    await using ours = new TableEngine({ file, tables: [table], log: silentLog });
    const [own, theirs] = [openTableClient(ours), openClient()];
    await createTable(table);
    const calls = sent.list();
    expect(calls.length).toBeGreaterThan(50);
    for (const call of calls) {
      const agree = fc.asyncProperty(drawItems(call), async (items) => {
        const seen = await observe(own, items, call);
        expect(seen, SentCalls.describe(call)).toEqual(await observe(theirs, items, call));
      });
      await fc.assert(agree, { numRuns: chooseSize({ short: 6, long: 100 }) });
    }
  });

  function open({ name }: Table): StoreEngine {
    return {
      tableName: name,
      openDocuments() {
        const watched = toStoreTestClient(openClient());
        watched.middlewareStack.add((next, { commandName }) => (args) => {
          sent.add(commandName, args.input);
          return next(args);
        });
        return watched;
      },
    };
  }

  /** A client of its own that takes the connections of another: with its own ones for each, there would be thousands. */
  function openClient(): DynamoDBClient {
    const { requestHandler } = client.config;
    return new DynamoDBClient({ ...localClientOptions, endpoint: engine.url, requestHandler });
  }

  async function createTable({ name, partitionKey, sortKey }: Table): Promise<void> {
    await client.send(
      new CreateTableCommand({
        TableName: name,
        BillingMode: 'PAY_PER_REQUEST',
        KeySchema: [
          { AttributeName: partitionKey, KeyType: 'HASH' },
          { AttributeName: sortKey, KeyType: 'RANGE' },
        ],
        AttributeDefinitions: [
          { AttributeName: partitionKey, AttributeType: 'S' },
          { AttributeName: sortKey, AttributeType: 'S' },
        ],
      }),
    );
  }
});
