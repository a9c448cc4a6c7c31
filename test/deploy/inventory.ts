import { DynamoDBClient, ListTablesCommand } from '@aws-sdk/client-dynamodb';
import { ListQueuesCommand, SQSClient } from '@aws-sdk/client-sqs';
import { localClientOptions } from '#test/support/engines/local-aws-client.ts';
import { callRest } from './aws-calls.ts';

/** Names of what there is in the emulated account, by kind. */
export interface Inventory {
  readonly functions: readonly string[];
  readonly tables: readonly string[];
  readonly queues: readonly string[];
  readonly apis: readonly string[];
}

/** Asks the services themselves what there is. */
export async function takeInventory(endpoint: string): Promise<Inventory> {
  const [functions, tables, queues, apis] = await Promise.all([
    listFunctions(endpoint),
    listTables(endpoint),
    listQueues(endpoint),
    listApis(endpoint),
  ]);
  return { functions, tables, queues, apis: apis.map(({ name }) => name) };
}

/** A REST API of the emulated account. */
export interface RestApi {
  readonly id: string;
  readonly name: string;
}

/** The REST APIs there are. */
export async function listApis(endpoint: string): Promise<readonly RestApi[]> {
  const answer = await callRest(endpoint, {
    service: 'apigateway',
    method: 'GET',
    path: '/restapis?limit=500',
  });
  const { item = [] } = answer as { item?: RestApi[] };
  return item;
}

async function listFunctions(endpoint: string): Promise<readonly string[]> {
  const names: string[] = [];
  let marker = '';
  do {
    const path = `/2015-03-31/functions/?MaxItems=50&Marker=${encodeURIComponent(marker)}`;
    const answer = await callRest(endpoint, { service: 'lambda', method: 'GET', path });
    const { Functions = [], NextMarker } = answer as {
      Functions?: { FunctionName: string }[];
      NextMarker?: string;
    };
    names.push(...Functions.map(({ FunctionName }) => FunctionName));
    marker = NextMarker ?? '';
  } while (marker !== '');
  return names;
}

async function listTables(endpoint: string): Promise<readonly string[]> {
  const client = new DynamoDBClient({ ...localClientOptions, endpoint });
  try {
    return (await client.send(new ListTablesCommand())).TableNames ?? [];
  } finally {
    client.destroy();
  }
}

async function listQueues(endpoint: string): Promise<readonly string[]> {
  const client = new SQSClient({ ...localClientOptions, endpoint });
  try {
    const { QueueUrls = [] } = await client.send(new ListQueuesCommand());
    return QueueUrls.map((url) => url.slice(url.lastIndexOf('/') + 1));
  } finally {
    client.destroy();
  }
}
