import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { createDirectClient } from '#infra/local/engines/direct-client.ts';
import { TableEngine } from '#infra/local/engines/dynamodb/tables.ts';
import type { StoreClient } from '#platform/aws/table.ts';
import { type Table, tables } from '#platform/aws/tables.ts';
import type { StoreEngine } from '#test/contracts/store-bench.ts';
import { silentLog } from './silent-log.ts';
import { toStoreTestClient } from './store-test-client.ts';
import { TableActions } from './table-actions.ts';

/** Runs the tables of `npm start` in this process while the tests of a file run. @returns what opens a table of it, inside the tests. */
export function useLocalTables(): (table: Table) => StoreEngine {
  let dir: string;
  let engine: TableEngine;

  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'busdriver-tables-'));
    engine = new TableEngine({ file: join(dir, 'tables.sqlite'), tables, log: silentLog });
  });

  afterAll(async () => {
    await engine[Symbol.asyncDispose]();
    await rm(dir, { recursive: true });
  });

  return ({ name }) => ({ tableName: name, openDocuments: () => toStoreTestClient(openTableClient(engine)) });
}

/** A client of tables in this process. */
export function openTableClient(engine: TableEngine): StoreClient {
  const tables = new TableActions(engine);
  const client = createDirectClient({ service: 'dynamodb', engine: tables, hook: {} });
  // The types of the SDK's `send` follow from its commands.
  return client as unknown as StoreClient;
}
