import { randomUUID } from 'node:crypto';
import {
  CreateTableCommand,
  DeleteTableCommand,
  DynamoDBClient,
  waitUntilTableExists,
} from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll } from 'vitest';
import { accountsTable, cacheTable, type Table, tables, tasksTable } from '#platform/aws/tables.ts';
import { toStoreTestClient } from '#test/support/engines/store-test-client.ts';
import { testAccountStore } from '../account-store.contract.ts';
import { testAgentStore } from '../agent-store.contract.ts';
import { testCacheStore } from '../cache-store.contract.ts';
import { testQueueEngine } from '../queue.contract.ts';
import type { StoreEngine } from '../store-bench.ts';
import { testTaskStore } from '../task-store.contract.ts';
import type { EngineOptions } from './engine-options.ts';

const { dynamodb, sqs, gaps }: EngineOptions = JSON.parse(process.env['ENGINE_OPTIONS'] ?? '{}');
const { AWS_ACCESS_KEY_ID: accessKeyId = 'local', AWS_SECRET_ACCESS_KEY: secretAccessKey = 'local' } =
  process.env;
const clientOptions = {
  region: process.env['AWS_REGION'] ?? 'us-east-1',
  credentials: { accessKeyId, secretAccessKey },
};

if (dynamodb !== undefined) testTables(dynamodb);

if (sqs !== undefined) {
  testQueueEngine(sqs, () => ({
    endpoint: sqs,
    clientOptions,
    maximumMessageBytes: 1 << 20,
    gaps: Object.fromEntries(gaps.map((gap) => [gap, 'left out by --gaps'])),
  }));
}

function testTables(endpoint: string): void {
  const prefix = `busdriver-test-${randomUUID().slice(0, 8)}-`;
  const client = new DynamoDBClient({ ...clientOptions, endpoint });
  const open = ({ name }: Table): StoreEngine => ({
    tableName: `${prefix}${name}`,
    openDocuments: () => toStoreTestClient(client),
  });

  beforeAll(async () => {
    for (const table of tables) await createTable(client, table, `${prefix}${table.name}`);
  });

  afterAll(async () => {
    for (const { name } of tables)
      await client.send(new DeleteTableCommand({ TableName: `${prefix}${name}` }));
    client.destroy();
  });

  testAccountStore(endpoint, () => open(accountsTable));
  testTaskStore(endpoint, () => open(tasksTable));
  testCacheStore(endpoint, () => open(cacheTable));
  testAgentStore(endpoint, () => open(cacheTable));
}

async function createTable(
  client: DynamoDBClient,
  { partitionKey, sortKey }: Table,
  TableName: string,
): Promise<void> {
  const keys = [partitionKey, sortKey];
  const create = new CreateTableCommand({
    TableName,
    BillingMode: 'PAY_PER_REQUEST',
    KeySchema: [
      { AttributeName: partitionKey, KeyType: 'HASH' },
      { AttributeName: sortKey, KeyType: 'RANGE' },
    ],
    AttributeDefinitions: keys.map((key) => ({ AttributeName: key, AttributeType: 'S' })),
  });
  await client.send(create);
  await waitUntilTableExists({ client, maxWaitTime: 120, minDelay: 1 }, { TableName });
}
