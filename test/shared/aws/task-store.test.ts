import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll } from 'vitest';
import { startDynamoDb } from '../../../infra/local/dynamodb.ts';
import { localClientOptions } from '../../../infra/local/local-aws.ts';
import { tables, tasksTable } from '../../../shared/aws/tables.ts';
import { testTaskStore } from '../../contracts/task-store.contract.ts';

let dir: string;
let engine: Awaited<ReturnType<typeof startDynamoDb>>;

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'busdriver-store-'));
  engine = await startDynamoDb({ dir, tables });
});

afterAll(async () => {
  await engine[Symbol.asyncDispose]();
  await rm(dir, { recursive: true });
});

testTaskStore('dynalite', () => ({
  tableName: tasksTable.name,
  openDocuments: () =>
    DynamoDBDocumentClient.from(new DynamoDBClient({ ...localClientOptions, endpoint: engine.url }), {
      marshallOptions: { removeUndefinedValues: true },
    }),
}));
