import { DescribeTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { GetQueueAttributesCommand, SQSClient } from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { queues } from '#functions/queues.ts';
import { createResources } from '#infra/kubernetes/create-resources.ts';
import { findResources, listEventSources, toClientOptions } from '#infra/kubernetes/resources.ts';
import { tables } from '#platform/aws/tables.ts';
import { endpointVariables } from '#platform/config.ts';
import { type HomeEngines, startHomeEngines } from './engines.ts';
import { RecordedLog } from './pod.ts';

let engines: HomeEngines;
beforeAll(async () => {
  engines = await startHomeEngines();
});
afterAll(() => engines[Symbol.asyncDispose]());

test('tables and the bus go by their names, and queues are looked up', async () => {
  const { BUSDRIVER_BUS_NAME: _bus, ...environment } = engines.environment;
  const url = `${environment[endpointVariables.sqs]}/000000000000`;
  expect(await findResources(environment, { tables, queues, namePrefix: '' })).toEqual({
    BUSDRIVER_TASKS_TABLE: 'tasks',
    BUSDRIVER_CACHE_TABLE: 'cache',
    BUSDRIVER_ACCOUNTS_TABLE: 'accounts',
    BUSDRIVER_BUS_NAME: 'default',
    BUSDRIVER_OPERATIONS_QUEUE_URL: `${url}/operations`,
    BUSDRIVER_AGENTS_QUEUE_URL: `${url}/agents`,
    BUSDRIVER_AGENT_STREAMS_QUEUE_URL: `${url}/agent-streams`,
  });
});

test('what the environment names stays', async () => {
  const named = {
    ...engines.environment,
    BUSDRIVER_TASKS_TABLE: 'my-tasks',
    BUSDRIVER_OPERATIONS_QUEUE_URL: 'https://sqs.example.com/1/my-operations',
    BUSDRIVER_AGENTS_QUEUE_URL: 'https://sqs.example.com/1/my-agents',
    BUSDRIVER_AGENT_STREAMS_QUEUE_URL: 'https://sqs.example.com/1/my-streams',
  };
  const found = await findResources(named, { tables, queues, namePrefix: 'busdriver-prod-' });
  expect(found).toMatchObject({
    BUSDRIVER_TASKS_TABLE: 'my-tasks',
    BUSDRIVER_CACHE_TABLE: 'busdriver-prod-cache',
    BUSDRIVER_BUS_NAME: 'busdriver',
    BUSDRIVER_OPERATIONS_QUEUE_URL: 'https://sqs.example.com/1/my-operations',
  });
  const urls = new Map(listEventSources(queues, found).map(({ module, queueUrl }) => [module, queueUrl]));
  expect(urls.get('workers/run-operations')).toBe('https://sqs.example.com/1/my-operations');
  expect(urls.get('workers/settle-dead-letters')).toBe(
    'https://sqs.example.com/1/my-operations-dead-letters',
  );
});

test('a queue that is not there is named', async () => {
  const finding = findResources(engines.environment, { tables, queues, namePrefix: 'busdriver-' });
  await expect(finding).rejects.toThrow('the queue busdriver-operations cannot be found');
});

test('without an endpoint and credentials of its own SQS is found as the AWS SDK finds it', () => {
  expect(toClientOptions({}, 'sqs')).toEqual({});
});

test('what is missing is made, and what is there stays', async () => {
  const { environment } = engines;
  const names = { tables, queues, namePrefix: 'made-' };
  const log = new RecordedLog();
  await createResources(environment, names, log);
  expect(
    log.lines
      .filter(({ message }) => message === 'made what was missing')
      .map(({ fields }) => fields['what']),
  ).toEqual(['the table made-tasks', 'the table made-cache', 'the table made-accounts']);
  await createResources(environment, names, log);

  const found = await findResources(environment, names);
  using stack = new DisposableStack();
  const sqs = stack.adopt(new SQSClient(toClientOptions(environment, 'sqs')), (each) => each.destroy());
  const QueueUrl = found['BUSDRIVER_OPERATIONS_QUEUE_URL'];
  const { Attributes } = await sqs.send(new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['All'] }));
  expect(Attributes).toMatchObject({ VisibilityTimeout: '960', MessageRetentionPeriod: '345600' });
  expect(JSON.parse(Attributes?.['RedrivePolicy'] ?? '')).toEqual({
    deadLetterTargetArn: 'arn:aws:sqs:us-east-1:000000000000:made-operations-dead-letters',
    maxReceiveCount: 5,
  });
  const options = toClientOptions(environment, 'dynamodb');
  const dynamodb = stack.adopt(new DynamoDBClient(options), (each) => each.destroy());
  const { Table } = await dynamodb.send(new DescribeTableCommand({ TableName: 'made-tasks' }));
  expect(Table?.KeySchema?.map(({ AttributeName }) => AttributeName)).toEqual(['pk', 'sk']);
});
