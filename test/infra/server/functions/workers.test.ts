import {
  CreateQueueCommand,
  GetQueueAttributesCommand,
  SendMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import type { SQSEvent, SQSRecord } from 'aws-lambda';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Handler, Invoker } from '#infra/server/functions/invoker.ts';
import { type EventSource, startWorkers } from '#infra/server/functions/workers.ts';
import { startSqs } from '#test/support/engines/engine-servers.ts';
import type { EngineServer } from '#test/support/engines/http-engine.ts';
import { localClientOptions } from '#test/support/engines/local-aws-client.ts';

const silent = { debug() {}, info() {}, warn() {}, error() {} };

let server: EngineServer;
let client: SQSClient;
let url: string;

beforeEach(async () => {
  server = await startSqs();
  client = new SQSClient({ ...localClientOptions, endpoint: server.url });
  url = (await client.send(new CreateQueueCommand({ QueueName: 'work' }))).QueueUrl ?? '';
});

afterEach(async () => {
  client.destroy();
  await server[Symbol.asyncDispose]();
});

test('a message becomes a record of an SQS event, and is deleted once the function took it', async () => {
  const events: SQSEvent[] = [];
  await using _workers = start(async (event) => void events.push(event as SQSEvent), {});
  const message = { QueueUrl: url, MessageBody: '{"taskId":"1"}', MessageGroupId: 'prod' };
  await client.send(new SendMessageCommand(message));
  await expect.poll(countMessages).toBe(0);
  expect(events).toHaveLength(1);
  expect(events[0]?.Records).toMatchObject([
    {
      body: '{"taskId":"1"}',
      attributes: { ApproximateReceiveCount: '1', MessageGroupId: 'prod' },
      eventSource: 'aws:sqs',
      eventSourceARN: 'arn:aws:sqs:us-east-1:000000000000:work',
      awsRegion: 'us-east-1',
    },
  ]);
});

test('a message comes again when the function throws', async () => {
  await hideForOneSecond();
  const counts: string[] = [];
  await using _workers = start(async (event) => {
    const [record] = (event as SQSEvent).Records;
    counts.push(record?.attributes.ApproximateReceiveCount ?? '');
    if (counts.length < 2) throw new Error('broken');
  }, {});
  await send('x');
  await expect.poll(() => counts).toEqual(['1', '2']);
  await expect.poll(countMessages).toBe(0);
});

test('of a batch only the messages that failed come again', async () => {
  await hideForOneSecond();
  const taken: string[] = [];
  const takeEvenOnFirstTry: Handler = async (event) => {
    const isFailed = ({ body, attributes }: SQSRecord) =>
      Number(body) % 2 === 1 && attributes.ApproximateReceiveCount === '1';
    const { Records } = event as SQSEvent;
    taken.push(...Records.filter((record) => !isFailed(record)).map(({ body }) => body));
    return { batchItemFailures: Records.filter(isFailed).map((one) => ({ itemIdentifier: one.messageId })) };
  };
  for (let number = 0; number < 6; number++) await send(String(number));
  await using _workers = start(takeEvenOnFirstTry, { batchSize: 3 });
  await expect.poll(() => taken).toHaveLength(6);
  expect(taken.toSorted()).toEqual(['0', '1', '2', '3', '4', '5']);
  await expect.poll(countMessages).toBe(0);
});

test('as many run at once as are allowed, and no more', async () => {
  const finish: (() => void)[] = [];
  const work: Handler = () => new Promise<void>((resolve) => finish.push(resolve));
  await using _workers = start(work, { concurrency: 3 });
  for (let sent = 0; sent < 5; sent++) await send('x');
  await expect.poll(() => finish).toHaveLength(3);
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(finish).toHaveLength(3);
  finish[0]?.();
  await expect.poll(() => finish).toHaveLength(4);
  for (const end of finish) end();
});

test('a stopped worker takes no more, and lets what runs end', async () => {
  let finish = () => {};
  let runs = 0;
  const workers = start(() => {
    runs += 1;
    return new Promise<void>((resolve) => {
      finish = resolve;
    });
  }, {});
  await send('first');
  await expect.poll(() => runs).toBe(1);
  await workers[Symbol.asyncDispose]();
  await send('second');
  finish();
  await expect.poll(countMessages).toBe(1);
  expect(runs).toBe(1);
});

test('a message is with its function within a few milliseconds', async () => {
  let arrive = (_at: number) => {};
  await using _workers = start(async () => arrive(performance.now()), {});
  const hops: number[] = [];
  for (let sent = 0; sent < 50; sent++) {
    const arrived = new Promise<number>((resolve) => {
      arrive = resolve;
    });
    const sentAt = performance.now();
    await send('x');
    hops.push((await arrived) - sentAt);
  }
  // About 1.5 ms on an idle machine; only a lost wake-up, which would take seconds, is far off.
  expect(hops.toSorted((a, b) => a - b)[25]).toBeLessThan(500);
});

function start(handler: Handler, options: Partial<EventSource>): AsyncDisposable {
  const source = {
    queueName: 'work',
    queueUrl: url,
    module: 'workers/test',
    batchSize: 1,
    concurrency: 20,
    timeoutSeconds: 30,
  };
  return startWorkers({
    sources: [{ ...source, ...options }],
    sqs: client,
    invoker: new Invoker(async () => handler, silent),
    log: silent,
  });
}

/** Takes another queue, which hides a message that was received for a second. */
async function hideForOneSecond(): Promise<void> {
  const request = { QueueName: 'brief', Attributes: { VisibilityTimeout: '1' } };
  url = (await client.send(new CreateQueueCommand(request))).QueueUrl ?? '';
}

async function send(body: string): Promise<void> {
  await client.send(new SendMessageCommand({ QueueUrl: url, MessageBody: body }));
}

/** Visible and hidden messages together. */
async function countMessages(): Promise<number> {
  const request = new GetQueueAttributesCommand({
    QueueUrl: url,
    AttributeNames: ['ApproximateNumberOfMessages', 'ApproximateNumberOfMessagesNotVisible'],
  });
  const { Attributes = {} } = await client.send(request);
  return Object.values(Attributes).reduce((sum, count) => sum + Number(count), 0);
}
