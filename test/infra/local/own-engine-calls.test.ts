import path from 'node:path';
import {
  ConditionalCheckFailedException,
  DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
} from '@aws-sdk/client-dynamodb';
import { PutEventsCommand } from '@aws-sdk/client-eventbridge';
import {
  CreateQueueCommand,
  QueueDoesNotExist,
  ReceiveMessageCommand,
  SendMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import { expect, test } from 'vitest';
import { startDynamoDb } from '../../../infra/local/dynamodb.ts';
import { makeEngineCredentials } from '../../../infra/local/engine-access.ts';
import { startEventBridge } from '../../../infra/local/eventbridge.ts';
import { startSqs } from '../../../infra/local/sqs.ts';
import { createBusClient } from '../../../shared/aws/event-bus.ts';
import { tellTime } from '../../../shared/aws/service-time.ts';
import { tables, tasksTable } from '../../../shared/aws/tables.ts';
import { openTestAccess } from '../../support/engines/local-aws-client.ts';
import { makeTempDir } from '../../support/run/temp-dir.ts';

const item = { pk: { S: 'a' }, sk: { S: 'b' }, text: { S: 'Zürich' } };
const key = { pk: item.pk, sk: item.sk };
/** Nobody knows them: over a socket they are refused. */
const credentials = makeEngineCredentials();

test('clients of this process need no signature, and get the answers that all get', async () => {
  await using temp = await makeTempDir();
  const dir = path.join(temp.path, 'dynamodb');
  await using server = await startDynamoDb({ dir, tables, access: openTestAccess() });
  const options = { ...server.toOwnClientOptions(), credentials };
  const own = new DynamoDBClient(options);
  const told: number[] = [];
  tellTime(own, { now: Date.now, take: ({ toldMs }) => void told.push(toldMs) });
  const TableName = tasksTable.name;
  const put = new PutItemCommand({
    ...{ TableName, Item: item },
    ConditionExpression: 'attribute_not_exists(pk)',
  });

  await own.send(put);
  const { Item } = await own.send(new GetItemCommand({ TableName, Key: key }));
  const refused = await own.send(put).catch((error: unknown) => error);
  const unknown = new GetItemCommand({ TableName: 'no-such-table', Key: key });

  expect(Item).toEqual(item);
  expect(refused).toBeInstanceOf(ConditionalCheckFailedException);
  await expect(own.send(unknown)).rejects.toMatchObject({ name: 'ResourceNotFoundException' });
  expect(Math.abs(Date.now() - (told[0] ?? 0))).toBeLessThan(60_000);
  const { requestHandler: _, httpAuthSchemes: __, ...overSocket } = options;
  const stranger = new DynamoDBClient({ ...overSocket, maxAttempts: 1 });
  await expect(stranger.send(put)).rejects.toMatchObject({ $metadata: { httpStatusCode: 403 } });
  stranger.destroy();
});

test('calls fail when the engine has ended', async () => {
  await using temp = await makeTempDir();
  const dir = path.join(temp.path, 'dynamodb');
  const server = await startDynamoDb({ dir, tables, access: openTestAccess() });
  const own = new DynamoDBClient({ ...server.toOwnClientOptions(), maxAttempts: 1 });
  await server[Symbol.asyncDispose]();

  const call = own.send(new GetItemCommand({ TableName: tasksTable.name, Key: key }));

  await expect(call).rejects.toThrow('The tables are being closed');
});

test('who gives a call up hears of it at once, and gets no message that comes later', async () => {
  await using sqs = await startSqs(openTestAccess());
  const own = new SQSClient(sqs.toOwnClientOptions());
  const { QueueUrl } = await own.send(new CreateQueueCommand({ QueueName: 'operations' }));
  const poll = new ReceiveMessageCommand({ QueueUrl, WaitTimeSeconds: 20 });
  const leaving = new AbortController();
  const given = own.send(poll, { abortSignal: leaving.signal });
  const outcome = expect(given).rejects.toMatchObject({ name: 'AbortError' });
  await new Promise((resolve) => setImmediate(resolve));
  leaving.abort(new Error('enough'));
  await outcome;

  await own.send(new SendMessageCommand({ QueueUrl, MessageBody: 'news' }));
  const { Messages } = await own.send(poll);

  expect(Messages?.map(({ Body }) => Body)).toEqual(['news']);
  await expect(own.send(poll, { abortSignal: leaving.signal })).rejects.toMatchObject({ name: 'AbortError' });
});

test('a try ends when its time is over, and its client repeats it', async () => {
  await using sqs = await startSqs(openTestAccess());
  const own = new SQSClient({ ...sqs.toOwnClientOptions(20), maxAttempts: 2 });
  const { QueueUrl } = await own.send(new CreateQueueCommand({ QueueName: 'operations' }));

  const call = own.send(new ReceiveMessageCommand({ QueueUrl, WaitTimeSeconds: 20 }));

  await expect(call).rejects.toMatchObject({ name: 'TimeoutError', $metadata: { attempts: 2 } });
});

test('refusals of SQS and answers of EventBridge are those that go over sockets', async () => {
  const access = openTestAccess();
  await using sqs = await startSqs(access);
  await using eventbridge = await startEventBridge({ access, buses: ['busdriver'] });
  const QueueUrl = `${sqs.url}/000000000000/none`;
  const event = { Source: 'busdriver', DetailType: 'TaskCompleted', Detail: '{}', EventBusName: 'busdriver' };

  const send = new SQSClient(sqs.toOwnClientOptions()).send(
    new SendMessageCommand({ QueueUrl, MessageBody: 'x' }),
  );
  const bus = createBusClient(eventbridge.toOwnClientOptions());
  const told = await bus.send(new PutEventsCommand({ Entries: [event, { ...event, Detail: 'none' }] }));

  await expect(send).rejects.toBeInstanceOf(QueueDoesNotExist);
  expect(told).toMatchObject({ FailedEntryCount: 1, Entries: [{ EventId: expect.any(String) }, {}] });
});
