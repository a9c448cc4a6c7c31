import { CreateTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll } from 'vitest';
import { accountsTable, cacheTable, type Table, tables, tasksTable } from '../../shared/aws/tables.ts';
import { testAccountStore } from '../contracts/account-store.contract.ts';
import { testAgentStore } from '../contracts/agent-store.contract.ts';
import { testCacheStore } from '../contracts/cache-store.contract.ts';
import type { StoreEngine } from '../contracts/store-bench.ts';
import { testTaskStore } from '../contracts/task-store.contract.ts';
import type { JavaEngine } from '../support/engines/java-engines.ts';
import { describeWithJavaEngine } from '../support/engines/java-suite.ts';
import { localClientOptions } from '../support/engines/local-aws-client.ts';

await describeWithJavaEngine('dynamodb-local', (start) => {
  let engine: JavaEngine;

  beforeAll(async () => {
    engine = await start();
    await Promise.all(tables.map(createTable));
  });

  afterAll(() => engine?.[Symbol.asyncDispose]());

  testAccountStore('DynamoDB Local', () => open(accountsTable));
  testTaskStore('DynamoDB Local', () => open(tasksTable));
  testCacheStore('DynamoDB Local', () => open(cacheTable));
  testAgentStore('DynamoDB Local', () => open(cacheTable));

  function open({ name }: Table): StoreEngine {
    return {
      tableName: name,
      openDocuments: () =>
        DynamoDBDocumentClient.from(openClient(), { marshallOptions: { removeUndefinedValues: true } }),
    };
  }

  function openClient(): DynamoDBClient {
    return new DynamoDBClient({ ...localClientOptions, endpoint: engine.url });
  }

  async function createTable({ name, partitionKey, sortKey }: Table): Promise<void> {
    await openClient().send(
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
