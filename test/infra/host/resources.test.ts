import { afterAll, beforeAll, expect, test } from 'vitest';
import { queues } from '../../../functions/queues.ts';
import { findResources, listEventSources, toSqsOptions } from '../../../infra/host/resources.ts';
import { tables } from '../../../shared/aws/tables.ts';
import { endpointVariables } from '../../../shared/runtime/config.ts';
import { type HomeEngines, startHomeEngines } from './engines.ts';

let engines: HomeEngines;
beforeAll(async () => {
  engines = await startHomeEngines();
}, 120_000);
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
  expect(toSqsOptions({})).toEqual({});
});
