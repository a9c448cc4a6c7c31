import { createServer, type IncomingHttpHeaders } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { DynamoDBClient, GetItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { EventBridgeClient, PutEventsCommand } from '@aws-sdk/client-eventbridge';
import { CreateQueueCommand, ListQueuesCommand, SQSClient } from '@aws-sdk/client-sqs';
import { Sha256 } from '@smithy/core/checksum';
import { SignatureV4 } from '@smithy/signature-v4';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { AwsJsonServer } from '../../../infra/local/aws-json-server.ts';
import { startDynamoDb } from '../../../infra/local/dynamodb.ts';
import {
  EngineAccess,
  type EngineClientOptions,
  makeEngineCredentials,
  signatureSkewMaxMs,
} from '../../../infra/local/engine-access.ts';
import { startEventBridge } from '../../../infra/local/eventbridge.ts';
import { localRegion } from '../../../infra/local/local-aws.ts';
import { startSqs } from '../../../infra/local/sqs.ts';
import { tables, tasksTable } from '../../../shared/aws/tables.ts';
import type { LogFields } from '../../../shared/core/logger.ts';
import { getEventsPage } from '../../support/engines/signed-fetch.ts';
import { makeTempDir } from '../../support/run/temp-dir.ts';

const key = { pk: { S: 'a' }, sk: { S: 'b' } };

let warnings: { readonly message: string; readonly fields: LogFields | undefined }[];
let access: EngineAccess;
let started: AsyncDisposableStack;
let dynamodb: AwsJsonServer;
let sqs: AwsJsonServer;
let eventbridge: AwsJsonServer;

beforeEach(async () => {
  warnings = [];
  const warn = (message: string, fields?: LogFields) => void warnings.push({ message, fields });
  const log = { debug() {}, info() {}, warn, error() {} };
  access = new EngineAccess({ log });
  started = new AsyncDisposableStack();
  const temp = started.use(await makeTempDir());
  dynamodb = started.use(await startDynamoDb({ dir: path.join(temp.path, 'db'), tables, access }));
  sqs = started.use(await startSqs(access));
  eventbridge = started.use(await startEventBridge({ buses: ['busdriver'], access }));
});

afterEach(() => started.disposeAsync());

/** A call of each engine, as the AWS SDK sends it. */
const calls: {
  readonly [engine: string]: (change: (options: EngineClientOptions) => object) => Promise<unknown>;
} = {
  async dynamodb(change) {
    const client = new DynamoDBClient({ ...dynamodb.clientOptions, ...change(dynamodb.clientOptions) });
    return client
      .send(new PutItemCommand({ TableName: tasksTable.name, Item: key }))
      .finally(() => client.destroy());
  },
  async sqs(change) {
    const client = new SQSClient({ ...sqs.clientOptions, ...change(sqs.clientOptions) });
    return client.send(new CreateQueueCommand({ QueueName: 'planted' })).finally(() => client.destroy());
  },
  async eventbridge(change) {
    const client = new EventBridgeClient({
      ...eventbridge.clientOptions,
      ...change(eventbridge.clientOptions),
    });
    const entry = { EventBusName: 'busdriver', Source: 'planted', DetailType: 'T', Detail: '{}' };
    return client.send(new PutEventsCommand({ Entries: [entry] })).finally(() => client.destroy());
  },
};

/** What a stranger can make of the options. */
const strangers = {
  'another key': () => ({ credentials: { accessKeyId: 'local', secretAccessKey: 'local' } }),
  'random credentials': () => ({ credentials: makeEngineCredentials() }),
  'the access key alone': ({ credentials }: EngineClientOptions) => ({
    credentials: { ...credentials, secretAccessKey: 'guessed' },
  }),
};

describe.each(Object.entries(calls))('%s', (_, call) => {
  test('serves who knows the credentials', async () => {
    await expect(call(() => ({}))).resolves.toMatchObject({ $metadata: { httpStatusCode: 200 } });
    expect(warnings).toEqual([]);
  });

  test.each(Object.entries(strangers))(
    'refuses a stranger with %s, and does nothing',
    async (_name, change) => {
      await expect(call(change)).rejects.toMatchObject({
        name: expect.stringMatching(/^(UnrecognizedClientException|InvalidSignatureException)$/),
        message: expect.stringContaining('Only the Busdriver that runs this engine may call it.'),
        $metadata: { httpStatusCode: 403 },
      });
      expect(await findTraces()).toEqual({ item: undefined, queues: [], events: [] });
    },
  );
});

describe('a request that was seen on its way', () => {
  test.each<[string, (seen: Seen) => Partial<Seen>]>([
    ['another body', ({ body }) => ({ body: body.replace('"a"', '"c"') })],
    [
      'another body and the hash of it',
      ({ body, headers }) => {
        const changed = body.replace('"a"', '"c"');
        return { body: changed, headers: { ...headers, 'x-amz-content-sha256': 'UNSIGNED-PAYLOAD' } };
      },
    ],
    [
      'another action',
      ({ headers }) => ({ headers: { ...headers, 'x-amz-target': 'DynamoDB_20120810.DeleteTable' } }),
    ],
    [
      'an action that is not signed',
      ({ headers }) => ({
        headers: { ...headers, authorization: String(headers.authorization).replace(';x-amz-target', '') },
      }),
    ],
    ['another engine', () => ({ url: sqs.url })],
  ])('is worth nothing with %s', async (_, change) => {
    const seen = await record();
    expect((await replay(seen)).status).toBe(200);
    const { status, body } = await replay({ ...seen, ...change(seen) });
    expect(status).toBe(403);
    expect(JSON.parse(body)).toMatchObject({ __type: expect.stringMatching(/#InvalidSignatureException$/) });
  });

  test('counts for nothing where its action is not signed', async () => {
    const { host } = new URL(sqs.url);
    const { credentials } = access;
    const signer = new SignatureV4({ credentials, region: localRegion, service: 'sqs', sha256: Sha256 });
    const sign = async (headers: { [name: string]: string }) =>
      signer.sign({ method: 'POST', protocol: 'http:', hostname: host, path: '/', headers, body: '{}' });
    const target = { 'x-amz-target': 'AmazonSQS.ListQueues' };
    const call = async (headers: object) =>
      (await fetch(sqs.url, { method: 'POST', headers: { ...headers, ...target }, body: '{}' })).status;
    expect(await call((await sign({ host, ...target })).headers)).toBe(200);
    expect(await call((await sign({ host })).headers)).toBe(403);
  });

  test('is worth nothing any more after five minutes', async () => {
    const offset = (ms: number) => calls['sqs']?.(() => ({ systemClockOffset: ms, maxAttempts: 1 }));
    await expect(offset(-signatureSkewMaxMs + 60_000)).resolves.toBeDefined();
    await expect(offset(-signatureSkewMaxMs - 60_000)).rejects.toMatchObject({
      name: 'InvalidSignatureException',
    });
    await expect(offset(signatureSkewMaxMs + 60_000)).rejects.toMatchObject({
      name: 'InvalidSignatureException',
    });
  });
});

test('the page of events is for those who know the credentials', async () => {
  expect(await getEventsPage(eventbridge.url, '/events?since=0', access.credentials)).toEqual({ events: [] });
  expect((await fetch(`${eventbridge.url}/events`)).status).toBe(403);
  await expect(getEventsPage(eventbridge.url, '/events', makeEngineCredentials())).rejects.toThrow('403');
});

test('a stranger is answered before the body is sent, and knocking often fills no log', async () => {
  const claim = 'Credential=local/20260101/us-east-1/sqs/aws4_request, SignedHeaders=host;x-amz-date';
  const guess = `Authorization: AWS4-HMAC-SHA256 ${claim}, Signature=${'0'.repeat(64)}\r\n`;
  const engines = [dynamodb, sqs, eventbridge];
  for (const [url, header] of engines.flatMap((engine) => [
    [engine.url, ''] as const,
    [engine.url, guess] as const,
  ])) {
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    socket.write(
      'POST / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 10000000\r\n' +
        `${header}\r\n`,
    );
    const answer = await text(socket);
    expect(answer).toMatch(/^HTTP\/1.1 403 /);
    expect(answer).toMatch(/content-type: application\/x-amz-json-1\.[01]/i);
  }
  for (let knocks = 0; knocks < 100; knocks += 1) await fetch(sqs.url, { method: 'POST', body: '{}' });
  expect(warnings).toEqual([
    {
      message: 'a local engine refused a caller that does not know its credentials',
      fields: { engine: 'dynamodb', reason: 'UnrecognizedClientException', refusals: 1 },
    },
  ]);
});

test('no two starts have the same credentials', () => {
  const made = Array.from({ length: 100 }, makeEngineCredentials);
  const halves = made.flatMap(({ accessKeyId, secretAccessKey }) => [accessKeyId, secretAccessKey]);
  expect(new Set(halves).size).toBe(200);
  for (const half of halves) expect(half).toMatch(/^[0-9a-f]{64}$/);
});

async function findTraces() {
  const database = new DynamoDBClient(dynamodb.clientOptions);
  const { Item: item } = await database.send(new GetItemCommand({ TableName: tasksTable.name, Key: key }));
  database.destroy();
  const queues = new SQSClient(sqs.clientOptions);
  const { QueueUrls = [] } = await queues.send(new ListQueuesCommand({}));
  queues.destroy();
  const { events } = (await getEventsPage(eventbridge.url, '/events', access.credentials)) as { events: [] };
  return { item, queues: QueueUrls, events };
}

interface Seen {
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A PutItem as the SDK signs it for the local DynamoDB, seen on its way there. */
async function record(): Promise<Seen> {
  const { promise, resolve } = Promise.withResolvers<Seen>();
  const listener = createServer(async (request, response) => {
    resolve({ url: dynamodb.url, headers: request.headers, body: await text(request) });
    response.writeHead(200, { 'content-type': 'application/x-amz-json-1.0' }).end('{}');
  });
  await new Promise<void>((done) => listener.listen(0, '127.0.0.1', done));
  const endpoint = `http://127.0.0.1:${(listener.address() as AddressInfo).port}`;
  await calls['dynamodb']?.(() => ({ endpoint }));
  listener.closeAllConnections();
  await new Promise((done) => listener.close(done));
  return promise;
}

/** Sends it as it was signed: with the name of the host that it was meant for. */
async function replay({ url, headers, body }: Seen): Promise<{ status: number; body: string }> {
  const { 'content-length': _length, connection: _connection, ...others } = headers;
  const lines = Object.entries({ ...others, 'content-length': Buffer.byteLength(body), connection: 'close' });
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  socket.write(
    `POST / HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${body}`,
  );
  const answer = await text(socket);
  const [head = '', ...rest] = answer.split('\r\n\r\n');
  return { status: Number(head.split(' ')[1]), body: rest.join('\r\n\r\n') };
}
