import { randomBytes } from 'node:crypto';
import { readdir, stat } from 'node:fs/promises';
import { connect } from 'node:net';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import {
  DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
} from '@aws-sdk/client-dynamodb';
import { expect, test } from 'vitest';
import { startDynamoDb } from '../../../infra/local/dynamodb.ts';
import { cacheTable, type Table, tables, tasksTable } from '../../../shared/aws/tables.ts';
import { localClientOptions, openTestAccess } from '../../support/engines/local-aws-client.ts';
import { makeTempDir } from '../../support/run/temp-dir.ts';

const key = { pk: { S: 'a' }, sk: { S: 'b' } };

test('makes the tables, and finds them with their items at the next start', async () => {
  await using temp = await makeTempDir();
  const dir = path.join(temp.path, 'dynamodb');
  {
    await using server = await startDynamoDb({ dir, tables, access: openTestAccess() });
    const client = openClient(server.url);
    await client.send(
      new PutItemCommand({ TableName: tasksTable.name, Item: { ...key, text: { S: 'kept' } } }),
    );
    client.destroy();
  }
  await using server = await startDynamoDb({ dir, tables, access: openTestAccess() });
  const client = openClient(server.url);
  const { Item } = await client.send(new GetItemCommand({ TableName: tasksTable.name, Key: key }));
  expect(Item?.text).toEqual({ S: 'kept' });
  client.destroy();
});

test('adds a table of a later release to an old folder, and keeps what is there', async () => {
  await using temp = await makeTempDir();
  const dir = path.join(temp.path, 'dynamodb');
  {
    await using server = await startDynamoDb({ dir, tables: [tasksTable], access: openTestAccess() });
    await putItem(server.url, tasksTable);
  }
  await using server = await startDynamoDb({ dir, tables, access: openTestAccess() });
  await putItem(server.url, cacheTable);
  expect(await hasItem(server.url, tasksTable)).toBe(true);
  expect(await hasItem(server.url, cacheTable)).toBe(true);
});

test('frees the disk of what was overwritten, however many queries were made meanwhile', async () => {
  await using temp = await makeTempDir();
  await using server = await startDynamoDb({ dir: temp.path, tables, access: openTestAccess() });
  const client = openClient(server.url);
  const { name: TableName } = tasksTable;
  const rounds = 500;
  for (let round = 0; round < rounds; round += 1) {
    const noise = { S: randomBytes(64 * 1024).toString('base64') };
    await client.send(new PutItemCommand({ TableName, Item: { ...key, noise } }));
    await client.send(
      new QueryCommand({
        TableName,
        KeyConditionExpression: 'pk = :pk',
        ExpressionAttributeValues: { ':pk': { S: 'nobody' } },
      }),
    );
  }
  client.destroy();
  expect(await measureFiles(temp.path)).toBeLessThan(60_000_000);
});

test('survives a client that breaks off in the middle of a request', async () => {
  await using temp = await makeTempDir();
  await using server = await startDynamoDb({ dir: temp.path, tables, access: openTestAccess() });
  const socket = connect(Number(new URL(server.url).port), '127.0.0.1');
  await new Promise<void>((resolve) => {
    // With the right access key, or the body would not be read at all.
    const claim = 'Credential=local/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host;x-amz-date';
    const authorization = `AWS4-HMAC-SHA256 ${claim}, Signature=${'0'.repeat(64)}`;
    const headers = `Host: localhost\r\nAuthorization: ${authorization}\r\nContent-Length: 100`;
    socket.write(`POST / HTTP/1.1\r\n${headers}\r\n\r\n{`, () => resolve());
  });
  socket.resetAndDestroy();

  const client = openClient(server.url);
  const answer = await client.send(new GetItemCommand({ TableName: tasksTable.name, Key: key }));
  expect(answer.$metadata.httpStatusCode).toBe(200);
  client.destroy();
});

test.each(['Host: evil.test', 'Host: localhost\r\nOrigin: https://evil.test'])(
  'refuses %j',
  async (headers) => {
    await using temp = await makeTempDir();
    await using server = await startDynamoDb({ dir: temp.path, tables: [], access: openTestAccess() });
    const socket = connect(Number(new URL(server.url).port), '127.0.0.1');
    socket.write(`GET / HTTP/1.1\r\nConnection: close\r\n${headers}\r\n\r\n`);
    expect(await text(socket)).toMatch(/^HTTP\/1.1 403 /);
  },
);

async function putItem(endpoint: string, { name }: Table): Promise<void> {
  const client = openClient(endpoint);
  await client.send(new PutItemCommand({ TableName: name, Item: key }));
  client.destroy();
}

async function hasItem(endpoint: string, { name }: Table): Promise<boolean> {
  const client = openClient(endpoint);
  const { Item } = await client.send(new GetItemCommand({ TableName: name, Key: key }));
  client.destroy();
  return Item !== undefined;
}

function openClient(endpoint: string): DynamoDBClient {
  return new DynamoDBClient({ ...localClientOptions, endpoint });
}

/** Bytes of the files in a folder. */
async function measureFiles(dir: string): Promise<number> {
  const names = await readdir(dir);
  const sizes = await Promise.all(names.map(async (name) => (await stat(path.join(dir, name))).size));
  return sizes.reduce((sum, size) => sum + size, 0);
}
