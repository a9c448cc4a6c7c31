import { CreateTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll } from 'vitest';
import { accountsTable, cacheTable, type Table, tables, tasksTable } from '../../shared/aws/tables.ts';
import { testAccountStore } from '../contracts/account-store.contract.ts';
import { testAgentStore } from '../contracts/agent-store.contract.ts';
import { testCacheStore } from '../contracts/cache-store.contract.ts';
import { countFewCases, type StoreEngine } from '../contracts/store-bench.ts';
import { testTaskStore } from '../contracts/task-store.contract.ts';
import type { JavaEngine } from '../support/engines/java-engines.ts';
import { describeWithJavaEngine } from '../support/engines/java-suite.ts';
import { localClientOptions } from '../support/engines/local-aws-client.ts';
import { openDocuments } from '../support/engines/local-tables.ts';

await describeWithJavaEngine('dynamodb-local', (start) => {
  let engine: JavaEngine;
  let client: DynamoDBClient;

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

  function open({ name }: Table): StoreEngine {
    return { tableName: name, openDocuments: () => openDocuments(client, engine.url) };
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
