import {
  CreateTableCommand,
  DynamoDBClient,
  UpdateTimeToLiveCommand,
  waitUntilTableExists,
} from '@aws-sdk/client-dynamodb';
import { CreateEventBusCommand, EventBridgeClient } from '@aws-sdk/client-eventbridge';
import { CreateQueueCommand, GetQueueAttributesCommand, SQSClient } from '@aws-sdk/client-sqs';
import type { Logger } from '#core/logger.ts';
import type { Queue } from '#functions/queues.ts';
import type { Table } from '#platform/aws/tables.ts';
import type { Environment, endpointVariables } from '#platform/config.ts';
import { nameBus, type ResourceNames, toClientOptions } from './resources.ts';

/** Seconds for which a new table is waited for. */
const tableSeconds = 120;

/** Failures that say that something is there already: another replica was first, or an earlier start. */
const existing: readonly string[] = ['ResourceInUseException', 'ResourceAlreadyExistsException'];

/** Failures by which servers that are no AWS say that they do not know a call. */
const unknown: ReadonlySet<string> = new Set([
  ...['UnknownOperationException', 'UnknownOperation', 'InvalidAction', 'NotImplemented'],
]);

/**
 * Makes the tables, queues and bus that are missing; what is there stays as it is. The stacks make more of them: keys, alarms, backups.
 *
 * @throws what AWS says of what cannot be made
 */
export async function createResources(
  environment: Environment,
  { tables, queues, namePrefix }: ResourceNames,
  log: Logger,
): Promise<void> {
  using stack = new DisposableStack();
  const optionsOf = (service: keyof typeof endpointVariables) => toClientOptions(environment, service);
  const dynamodb = stack.adopt(new DynamoDBClient(optionsOf('dynamodb')), (client) => client.destroy());
  const sqs = stack.adopt(new SQSClient(optionsOf('sqs')), (client) => client.destroy());
  const bridge = stack.adopt(new EventBridgeClient(optionsOf('eventbridge')), (client) => client.destroy());
  for (const table of tables) await createTable(dynamodb, { table, name: `${namePrefix}${table.name}`, log });
  for (const queue of queues) await createQueue(sqs, queue, `${namePrefix}${queue.name}`);
  const bus = nameBus(environment, namePrefix);
  if (bus === 'default') return;
  await unlessThere(() => bridge.send(new CreateEventBusCommand({ Name: bus })), {
    what: `the bus ${bus}`,
    log,
  });
}

interface WantedTable {
  readonly table: Table;
  readonly name: string;
  readonly log: Logger;
}

async function createTable(client: DynamoDBClient, { table, name, log }: WantedTable): Promise<void> {
  const { partitionKey, sortKey, ttlAttribute: AttributeName } = table;
  const keys = [partitionKey, sortKey];
  const create = new CreateTableCommand({
    TableName: name,
    BillingMode: 'PAY_PER_REQUEST',
    KeySchema: [
      { AttributeName: partitionKey, KeyType: 'HASH' },
      { AttributeName: sortKey, KeyType: 'RANGE' },
    ],
    AttributeDefinitions: keys.map((key) => ({ AttributeName: key, AttributeType: 'S' })),
  });
  await unlessThere(() => client.send(create), { what: `the table ${name}`, log });
  await waitUntilTableExists({ client, maxWaitTime: tableSeconds, minDelay: 1 }, { TableName: name });
  const TimeToLiveSpecification = { AttributeName, Enabled: true };
  const expire = new UpdateTimeToLiveCommand({ TableName: name, TimeToLiveSpecification });
  // So DynamoDB says that it is on already.
  const isOn = 'ValidationException';
  await unlessThere(() => client.send(expire), { what: `the expiry of ${name}`, log, isOn });
}

async function createQueue(client: SQSClient, queue: Queue, name: string): Promise<void> {
  const settings = {
    MessageRetentionPeriod: String(queue.retentionSeconds),
    VisibilityTimeout: String(queue.visibilityTimeoutSeconds),
  };
  const deadLetters = new CreateQueueCommand({ QueueName: `${name}-dead-letters`, Attributes: settings });
  const { QueueUrl } = await client.send(deadLetters);
  const asked = new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['QueueArn'] });
  const deadLetterTargetArn = (await client.send(asked)).Attributes?.['QueueArn'];
  const RedrivePolicy = JSON.stringify({ deadLetterTargetArn, maxReceiveCount: queue.receivesMax });
  await client.send(new CreateQueueCommand({ QueueName: name, Attributes: { ...settings, RedrivePolicy } }));
}

async function unlessThere(
  create: () => Promise<unknown>,
  { what, log, isOn }: { readonly what: string; readonly log: Logger; readonly isOn?: string },
): Promise<void> {
  try {
    await create();
    log.info('made what was missing', { what });
  } catch (error) {
    const name = error instanceof Error ? error.name : '';
    if (unknown.has(name))
      log.warn('a server does not know how to make something: make it by hand', { what });
    else if (!existing.includes(name) && name !== isOn) throw error;
  }
}
