import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import type { Table } from '../../shared/aws/tables.ts';
import { getPath, isJsonObject, type JsonObject } from '../../shared/core/json.ts';
import type { Logger } from '../../shared/core/logger.ts';
import { type AwsAction, type AwsJsonServer, startAwsJsonServer } from './aws-json-server.ts';
import { fromWire, toWire } from './dynamodb-wire.ts';
import type { EngineAccess } from './engine-access.ts';
import type { Database } from './engines/dynamodb/database.ts';
import { unknownTable } from './engines/dynamodb/refusals.ts';
import { TableEngine } from './engines/dynamodb/tables.ts';
import { AwsError } from './engines/engine.ts';

/** Name of the file of the tables. */
export const tablesFileName = 'tables.sqlite';

/** A running DynamoDB. */
export interface DynamoDbServer extends AwsJsonServer {
  /** The disk under the tables. */
  readonly storage: Database;
}

/** How to start DynamoDB. */
export interface StartDynamoDbOptions {
  /** Folder of the file of the tables; made when missing. Only one process may use it at a time. */
  readonly dir: string;
  /** Tables that must exist. */
  readonly tables: readonly Table[];
  /** Who may call it. */
  readonly access: EngineAccess;
  /** Default: nobody is told. */
  readonly log?: Logger;
}

const silent: Logger = { debug() {}, info() {}, warn() {}, error() {} };

/** Starts DynamoDB on a free port of 127.0.0.1 and makes the tables that are missing. What was answered survives kill -9, and a power cut. */
export async function startDynamoDb(options: StartDynamoDbOptions): Promise<DynamoDbServer> {
  const { dir, tables, access, log = silent } = options;
  await mkdir(dir, { recursive: true });
  const engine = new TableEngine({ file: path.join(dir, tablesFileName), tables, log });
  try {
    const server = await startAwsJsonServer(access, () => ({
      target: 'DynamoDB_20120810',
      signingName: 'dynamodb',
      version: '1.0',
      errorNamespace: 'com.amazonaws.dynamodb.v20120810',
      actions: makeActions(engine),
    }));
    return {
      ...server,
      storage: engine.database,
      async [Symbol.asyncDispose]() {
        await engine[Symbol.asyncDispose]();
        await server[Symbol.asyncDispose]();
      },
    };
  } catch (error) {
    await engine[Symbol.asyncDispose]();
    throw error;
  }
}

const itemActions = [
  ...['BatchGetItem', 'DeleteItem', 'GetItem', 'PutItem', 'Query', 'Scan', 'UpdateItem'],
] as const;

function makeActions(engine: TableEngine): { readonly [name: string]: AwsAction } {
  const perform =
    (action: string): AwsAction =>
    async (input) =>
      toWire(await engine.perform(action, fromWire(input)));
  return {
    ...Object.fromEntries(itemActions.map((action) => [action, perform(action)])),
    BatchWriteItem: (input) => batchWriteItem(engine, input),
    CreateTable: (input) => createTable(engine, input),
    DescribeTable: (input) => describeTable(engine, input),
  };
}

/** Writes that are answered one by one. */
async function batchWriteItem(engine: TableEngine, { RequestItems: all }: JsonObject): Promise<object> {
  for (const [TableName, requests] of Object.entries(isJsonObject(all) ? all : {})) {
    for (const request of Array.isArray(requests) ? requests.filter(isJsonObject) : []) {
      const { PutRequest, DeleteRequest } = request;
      if (isJsonObject(PutRequest)) await engine.perform('PutItem', { ...fromWire(PutRequest), TableName });
      if (isJsonObject(DeleteRequest))
        await engine.perform('DeleteItem', { ...fromWire(DeleteRequest), TableName });
    }
  }
  return { UnprocessedItems: {} };
}

/** Makes a table as our own are: two texts are its key. */
function createTable(engine: TableEngine, { TableName, KeySchema }: JsonObject): object {
  const name = String(TableName);
  if (engine.names.includes(name)) {
    throw new AwsError('ResourceInUseException', `Table already exists: ${name}`);
  }
  const names = (Array.isArray(KeySchema) ? KeySchema : []).map((each) => getPath(each, 'AttributeName'));
  const [partitionKey, sortKey] = names.map(String);
  if (partitionKey === undefined || sortKey === undefined) {
    throw new AwsError('ValidationException', 'A table has a HASH and a RANGE key here');
  }
  engine.createTable({ name, partitionKey, sortKey, ttlAttribute: '' });
  return { TableDescription: { TableName: name, TableStatus: 'ACTIVE' } };
}

function describeTable(engine: TableEngine, { TableName }: JsonObject): object {
  if (engine.names.includes(String(TableName))) return { Table: { TableName, TableStatus: 'ACTIVE' } };
  throw unknownTable(TableName);
}
