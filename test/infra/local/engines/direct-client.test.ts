import {
  ConditionalCheckFailedException,
  DeleteItemCommand,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
} from '@aws-sdk/client-dynamodb';
import { PutEventsCommand } from '@aws-sdk/client-eventbridge';
import { CreateQueueCommand, ReceiveMessageCommand, SendMessageCommand } from '@aws-sdk/client-sqs';
import { beforeEach, describe, expect, test } from 'vitest';
import { toQueueUrl } from '#infra/local/engines/sqs/queue-engine.ts';
import { type LocalEngines, startLocalEngines } from '#infra/local/local-engines.ts';
import { tables, tasksTable } from '#platform/aws/tables.ts';
import { Services } from '#platform/services/services.ts';
import { openTasks } from '#tasks/services/tasks.ts';
import { newTask } from '#test/contracts/store-bench.ts';
import { silentLog } from '#test/support/engines/silent-log.ts';
import { disposeAfterEach } from '#test/support/run/disposal.ts';
import { makeTempDir, type TempDir } from '#test/support/run/temp-dir.ts';

const TableName = tasksTable.name;
const item = { pk: { S: 'a' }, sk: { S: 'b' }, text: { S: 'Zürich' }, bytes: { B: Uint8Array.of(0, 255) } };
const Key = { pk: item.pk, sk: item.sk };

let dir: TempDir;
let engines: LocalEngines;

beforeEach(async () => {
  dir = await makeTempDir();
  const options = { dataDir: dir.path, tables, queues: [], busName: 'busdriver', log: silentLog };
  engines = await startLocalEngines(options);
});
disposeAfterEach(() => [engines, dir]);

describe('a client of an engine in this process', () => {
  test('takes commands of the SDK, and answers and refuses as its clients do', async () => {
    const { dynamodb } = engines.clients;
    const put = new PutItemCommand({
      TableName,
      Item: item,
      ConditionExpression: 'attribute_not_exists(pk)',
    });
    await dynamodb.send(put);
    expect((await dynamodb.send(new GetItemCommand({ TableName, Key }))).Item).toEqual(item);
    await expect(dynamodb.send(put)).rejects.toBeInstanceOf(ConditionalCheckFailedException);
    const unknown = dynamodb.send(new GetItemCommand({ TableName: 'no-such-table', Key }));
    await expect(unknown).rejects.toMatchObject({ name: 'ResourceNotFoundException', $fault: 'client' });
  });

  test('shares nothing with who sends and who reads', async () => {
    const { dynamodb } = engines.clients;
    const sent = { ...item, list: { L: [{ S: 'one' }] } };
    await dynamodb.send(new PutItemCommand({ TableName, Item: sent }));
    sent.list.L.push({ S: 'two' });
    sent.bytes.B.fill(7);
    const read = await dynamodb.send(new GetItemCommand({ TableName, Key }));
    expect(read.Item).toMatchObject({ list: { L: [{ S: 'one' }] }, bytes: { B: Uint8Array.of(0, 255) } });
    item.bytes.B.set([0, 255]);
  });

  test('refuses what nothing of ours sends by its name', async () => {
    const { dynamodb } = engines.clients;
    const ask = (expression: string) =>
      dynamodb.send(
        new DeleteItemCommand({
          ...{ TableName, Key, ConditionExpression: expression },
          ExpressionAttributeValues: { ':v': { S: 'x' } },
        }),
      );
    for (const [expression, message] of [
      ['contains(text, :v)', 'function: contains'],
      ['text.inner = :v', 'token: .'],
      ['text = :v AND', '<EOF>'],
      ['text = :w', 'attribute value: :w'],
      ['attribute_exists(text)', 'unused in expressions: keys: {:v}'],
    ] as const) {
      await expect(ask(expression), expression).rejects.toMatchObject({
        ...{ name: 'ValidationException', message: expect.stringContaining(message) },
      });
    }
  });

  test('lets others have a turn when it is asked for much', async () => {
    const { dynamodb } = engines.clients;
    const large = { S: 'x'.repeat(300_000) };
    const names = Array.from({ length: 60 }, (_, index) => String(index));
    for (const name of names)
      await dynamodb.send(new PutItemCommand({ TableName, Item: { ...Key, sk: { S: name }, large } }));
    let turns = 0;
    let isReading = true;
    const count = (): void => {
      turns += 1;
      if (isReading) setImmediate(count);
    };
    count();
    const ExpressionAttributeValues = { ':pk': item.pk };
    const query = { TableName, KeyConditionExpression: 'pk = :pk', ExpressionAttributeValues };
    let page = await dynamodb.send(new QueryCommand(query));
    while (page.LastEvaluatedKey !== undefined) {
      page = await dynamodb.send(new QueryCommand({ ...query, ExclusiveStartKey: page.LastEvaluatedKey }));
    }
    isReading = false;
    expect(turns).toBeGreaterThan(3);
  });

  test('is told of a message while it waits, and hears at once when it is given up', async () => {
    const { sqs } = engines.clients;
    await sqs.send(new CreateQueueCommand({ QueueName: 'operations' }));
    const QueueUrl = toQueueUrl('operations');
    const poll = new ReceiveMessageCommand({ QueueUrl, WaitTimeSeconds: 20 });
    const leaving = new AbortController();
    const given = sqs.send(poll, { abortSignal: leaving.signal });
    leaving.abort(new Error('enough'));
    await expect(given).rejects.toThrow('enough');
    await sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: 'news' }));
    expect((await sqs.send(poll)).Messages?.map(({ Body }) => Body)).toEqual(['news']);
    const none = sqs.send(new SendMessageCommand({ QueueUrl: toQueueUrl('none'), MessageBody: 'x' }));
    await expect(none).rejects.toMatchObject({ name: 'QueueDoesNotExist' });
  });

  test('publishes events, and tells which were not taken', async () => {
    const told: string[] = [];
    engines.eventbridge.on('event', (event) => void told.push(String(event['detail-type'])));
    const entry = {
      Source: 'busdriver',
      DetailType: 'TaskCompleted',
      Detail: '{}',
      EventBusName: 'busdriver',
    };
    const entries = [
      { ...entry, Time: new Date() },
      { ...entry, Detail: 'none' },
    ];
    const answer = await engines.clients.eventbridge.send(new PutEventsCommand({ Entries: entries }));
    expect(answer).toMatchObject({ FailedEntryCount: 1, Entries: [{ EventId: expect.any(String) }, {}] });
    expect(told).toEqual(['TaskCompleted']);
  });
});

test('a process that has no turn for seconds finds its store there: no time-out counts against it', async () => {
  const environment = {
    BUSDRIVER_TASKS_TABLE: 'tasks',
    BUSDRIVER_CACHE_TABLE: 'cache',
    BUSDRIVER_OPERATIONS_QUEUE_URL: toQueueUrl('operations'),
    BUSDRIVER_AGENTS_QUEUE_URL: toQueueUrl('agents'),
    BUSDRIVER_BUS_NAME: 'busdriver',
    BUSDRIVER_PLACEMENT: 'local',
    BUSDRIVER_LOG_LEVEL: 'SILENT',
  };
  await using services = new Services(environment, engines.clients);
  const { store } = openTasks(services);
  const task = newTask();
  const accepted = store.accept(task);
  const listed = store.listOpen(10);
  const endsAtMs = performance.now() + 5_000;
  while (performance.now() < endsAtMs);
  expect(await accepted).toMatchObject({ accepted: true });
  await listed;
  expect(await store.takeLease(task.id, { ownerId: 'me@here', attempts: 1 })).toBeDefined();
});
