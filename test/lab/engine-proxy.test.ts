import { join } from 'node:path';
import {
  BatchWriteItemCommand,
  DynamoDBClient,
  GetItemCommand,
  ProvisionedThroughputExceededException,
  PutItemCommand,
} from '@aws-sdk/client-dynamodb';
import { EventBridgeClient, PutEventsCommand } from '@aws-sdk/client-eventbridge';
import { SendMessageBatchCommand, SQSClient } from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { queues } from '#functions/queues.ts';
import { createQueues } from '#infra/server/functions/event-sources.ts';
import { localAccountId } from '#infra/server/functions/local-aws.ts';
import { cacheTable, tables } from '#platform/aws/tables.ts';
import { startDynamoDb, startEventBridge, startSqs } from '#test/support/engines/engine-servers.ts';
import { localClientOptions } from '#test/support/engines/local-aws-client.ts';
import { makeTempDir } from '#test/support/run/temp-dir.ts';
import { PartitionCapacity } from './capacity.ts';
import type { EngineService } from './engine-call.ts';
import { type EngineFault, EngineFaults, refusedFills } from './engine-faults.ts';
import { startEngineProxy } from './engine-proxy.ts';

const TableName = cacheTable.name;
const queue = 'operations';

/** Faults as a test sets them. */
class SetFaults extends EngineFaults {
  next: EngineFault | undefined;
  silence: ReturnType<EngineFaults['findSilence']>;

  constructor() {
    super({ seed: 1, share: 0, silences: [] });
  }

  override draw(): EngineFault | undefined {
    const fault = this.next;
    this.next = undefined;
    return fault;
  }

  override findSilence(): ReturnType<EngineFaults['findSilence']> {
    return this.silence;
  }
}

const running = new AsyncDisposableStack();
const faults = new SetFaults();
let direct: DynamoDBClient;
let dynamodb: DynamoDBClient;
let sqs: SQSClient;
let eventbridge: EventBridgeClient;
let sqsUrl: string;

beforeAll(async () => {
  const dir = running.use(await makeTempDir());
  const sqsEngine = running.use(await startSqs());
  const engines = {
    dynamodb: running.use(await startDynamoDb({ dir: join(dir.path, 'data'), tables })).url,
    sqs: sqsEngine.url,
    eventbridge: running.use(await startEventBridge({ buses: ['b'] })).url,
  };
  const queueClient = new SQSClient(sqsEngine.clientOptions);
  await createQueues(queueClient, queues);
  queueClient.destroy();
  const capacity = new PartitionCapacity();
  const { credentials } = localClientOptions;
  const start = async (service: EngineService) =>
    running.use(await startEngineProxy({ service, target: engines[service], credentials, faults, capacity }))
      .url;
  const toOptions = (endpoint: string) => ({ ...localClientOptions, endpoint, maxAttempts: 1 });
  sqsUrl = await start('sqs');
  direct = running.adopt(new DynamoDBClient(toOptions(engines.dynamodb)), (client) => client.destroy());
  dynamodb = running.adopt(new DynamoDBClient(toOptions(await start('dynamodb'))), (client) =>
    client.destroy(),
  );
  sqs = running.adopt(new SQSClient(toOptions(sqsUrl)), (client) => client.destroy());
  eventbridge = running.adopt(new EventBridgeClient(toOptions(await start('eventbridge'))), (client) =>
    client.destroy(),
  );
});

afterAll(() => running.disposeAsync());

function toPut(pk: string, text = ''): PutItemCommand {
  return new PutItemCommand({ TableName, Item: { pk: { S: pk }, sk: { S: 's' }, text: { S: text } } });
}

async function isThere(pk: string): Promise<boolean> {
  const Key = { pk: { S: pk }, sk: { S: 's' } };
  const { Item } = await direct.send(new GetItemCommand({ TableName, Key, ConsistentRead: true }));
  return Item !== undefined;
}

function toBatch(
  keys: readonly { readonly pk: string; readonly sk?: string }[],
  text = '',
): BatchWriteItemCommand {
  const requests = keys.map(({ pk, sk = 's' }) => ({
    PutRequest: { Item: { pk: { S: pk }, sk: { S: sk }, text: { S: text } } },
  }));
  return new BatchWriteItemCommand({ RequestItems: { [TableName]: requests } });
}

describe('the proxy in front of the engines', () => {
  it('passes on what nothing is wrong with', async () => {
    await dynamodb.send(toPut('passed'));
    expect(await isThere('passed')).toBe(true);
  });

  it('loses an answer once the engine has acted, and a call before', async () => {
    faults.next = { type: 'lost answer' };
    await expect(dynamodb.send(toPut('acted'))).rejects.toMatchObject({ code: 'ECONNRESET' });
    faults.next = { type: 'lost call' };
    await expect(dynamodb.send(toPut('lost'))).rejects.toMatchObject({ code: 'ECONNRESET' });
    expect([await isThere('acted'), await isThere('lost')]).toEqual([true, false]);
  });

  it('has the engine act when the caller has long been told that the connection broke', async () => {
    faults.next = { type: 'late execution', ms: 300 };
    await expect(dynamodb.send(toPut('late'))).rejects.toMatchObject({ code: 'ECONNRESET' });
    expect(await isThere('late')).toBe(false);
    await expect.poll(() => isThere('late')).toBe(true);
  });

  it('refuses a call, and a whole batch, as DynamoDB does when it is asked for too much', async () => {
    faults.next = { type: 'throttle' };
    await expect(dynamodb.send(toPut('refused'))).rejects.toThrow(ProvisionedThroughputExceededException);
    faults.next = { type: 'throttle' };
    await expect(dynamodb.send(toBatch([{ pk: 'refused' }]))).rejects.toThrow(
      ProvisionedThroughputExceededException,
    );
    faults.next = { type: 'error' };
    await expect(dynamodb.send(toPut('refused'))).rejects.toMatchObject({ name: 'InternalServerError' });
    expect(await isThere('refused')).toBe(false);
  });

  it('has a part of a batch done, and names the rest', async () => {
    faults.next = { type: 'part of a batch' };
    const { UnprocessedItems } = await dynamodb.send(
      toBatch([{ pk: 'part-0' }, { pk: 'part-1' }, { pk: 'part-2' }]),
    );
    expect(UnprocessedItems?.[TableName]?.map(({ PutRequest }) => PutRequest?.Item?.['pk']?.S)).toEqual([
      'part-0',
      'part-2',
    ]);
    expect(await isThere('part-1')).toBe(true);

    faults.next = { type: 'part of a batch' };
    const Entries = ['a', 'b', 'c'].map((Id) => ({ Id, MessageBody: Id }));
    const sent = await sqs.send(
      new SendMessageBatchCommand({ QueueUrl: `${sqsUrl}/${localAccountId}/${queue}`, Entries }),
    );
    expect(sent.Successful?.map(({ Id }) => Id)).toEqual(['b']);
    expect(sent.Failed?.map(({ Id }) => Id)).toEqual(['a', 'c']);

    faults.next = { type: 'part of a batch' };
    const events = ['x', 'y'].map((DetailType) => ({
      EventBusName: 'b',
      Source: 's',
      DetailType,
      Detail: '{}',
    }));
    const put = await eventbridge.send(new PutEventsCommand({ Entries: events }));
    expect(put.FailedEntryCount).toBe(1);
    expect(put.Entries?.map(({ ErrorCode }) => ErrorCode)).toEqual(['ThrottlingException', undefined]);
  });

  it('takes no item of more than 400 KB', async () => {
    await expect(dynamodb.send(toPut('large', 'x'.repeat(400 * 1_024)))).rejects.toThrow(/Item size/);
    await dynamodb.send(toPut('just-so', 'x'.repeat(399 * 1_024)));
  });

  it('lets a partition take 1,000 write units a second, by single items and by batches', async () => {
    const text = 'x'.repeat(390 * 1_024);
    const puts = Array.from({ length: 8 }, () => dynamodb.send(toPut('busy', text)));
    const results = await Promise.allSettled(puts);
    const refused = results.filter((result) => result.status === 'rejected');
    expect(refused.length).toBeGreaterThan(0);
    expect(refused.every(({ reason }) => reason instanceof ProvisionedThroughputExceededException)).toBe(
      true,
    );

    // Units for ten seconds.
    const items = Array.from({ length: 25 }, (_, index) => ({ pk: 'busy-batch', sk: String(index) }));
    await dynamodb.send(toBatch(items, text));
    const { UnprocessedItems } = await dynamodb.send(toBatch([{ pk: 'busy-batch' }, { pk: 'idle' }]));
    expect(UnprocessedItems?.[TableName]).toHaveLength(1);
    expect(await isThere('idle')).toBe(true);
  });

  it('refuses half of the writes of a first fill, and no others', () => {
    const own = new EngineFaults({ seed: 1, share: 0, silences: [] });
    const refuse = (pk: string) => {
      const call = {
        service: 'dynamodb',
        action: 'PutItem',
        input: { TableName, Item: { pk: { S: pk } } },
      } as const;
      return Array.from({ length: 200 }, () => own.draw(call)).filter((fault) => fault?.type === 'throttle')
        .length;
    };
    const refused = refuse('OBJECT#filled-2#pod');
    expect(Math.abs(refused - 100)).toBeLessThan(30);
    expect(own.counts.get(refusedFills)).toBe(refused);
    expect(refuse('OBJECT#test#pod')).toBe(0);
  });

  it('lets a whole service hang, or refuse, for a while', async () => {
    faults.silence = { mode: 'refuses', leftMs: 1_000 };
    await expect(dynamodb.send(toPut('silent'))).rejects.toMatchObject({ name: 'ServiceUnavailable' });
    faults.silence = { mode: 'hangs', leftMs: 600 };
    const impatient = dynamodb.send(toPut('silent'), { abortSignal: AbortSignal.timeout(100) });
    await expect(impatient).rejects.toMatchObject({ name: 'AbortError' });
    const patient = dynamodb.send(toPut('patient'));
    faults.silence = undefined;
    await patient;
    expect([await isThere('patient'), await isThere('silent')]).toEqual([true, false]);
  });
});
