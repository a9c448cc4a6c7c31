import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll } from 'vitest';
import { startDynamoDb } from '../../infra/local/dynamodb.ts';
import { localClientOptions } from '../../infra/local/local-aws.ts';
import { type Table, tables } from '../../shared/aws/tables.ts';
import type { StoreEngine } from '../contracts/store-bench.ts';

/** Runs the local DynamoDB while the tests of a file run. @returns what opens a table of it, inside the tests. */
export function useLocalTables(): (table: Table) => StoreEngine {
  let dir: string;
  let engine: Awaited<ReturnType<typeof startDynamoDb>>;

  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'busdriver-tables-'));
    engine = await startDynamoDb({ dir, tables });
  });

  afterAll(async () => {
    await engine[Symbol.asyncDispose]();
    await rm(dir, { recursive: true });
  });

  return ({ name }) => ({
    tableName: name,
    openDocuments: () =>
      DynamoDBDocumentClient.from(new DynamoDBClient({ ...localClientOptions, endpoint: engine.url }), {
        marshallOptions: { removeUndefinedValues: true },
      }),
  });
}
