import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll } from 'vitest';
import { startDynamoDb } from '../../../infra/local/dynamodb.ts';
import { type Table, tables } from '../../../shared/aws/tables.ts';
import type { StoreEngine } from '../../contracts/store-bench.ts';
import { localClientOptions, openTestAccess } from './local-aws-client.ts';

/** Runs the local DynamoDB while the tests of a file run. @returns what opens a table of it, inside the tests. */
export function useLocalTables(): (table: Table) => StoreEngine {
  let dir: string;
  let engine: Awaited<ReturnType<typeof startDynamoDb>>;
  let client: DynamoDBClient;

  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'busdriver-tables-'));
    engine = await startDynamoDb({ dir, tables, access: openTestAccess() });
    client = new DynamoDBClient({ ...localClientOptions, endpoint: engine.url });
  });

  afterAll(async () => {
    client.destroy();
    await engine[Symbol.asyncDispose]();
    await rm(dir, { recursive: true });
  });

  return ({ name }) => ({ tableName: name, openDocuments: () => openDocuments(client, engine.url) });
}

/**
 * A client of its own that takes the connections of another: with its own ones for each, a file of tests opened 2,800, more than some
 * systems allow, and to open them cost more than what was sent.
 *
 * @param endpoint of both
 */
export function openDocuments({ config }: DynamoDBClient, endpoint: string): DynamoDBDocumentClient {
  const { requestHandler } = config;
  const own = new DynamoDBClient({ ...localClientOptions, endpoint, requestHandler });
  return DynamoDBDocumentClient.from(own, { marshallOptions: { removeUndefinedValues: true } });
}
