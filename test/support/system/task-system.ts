import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { EventBridgeClient } from '@aws-sdk/client-eventbridge';
import { CreateQueueCommand, ReceiveMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { startDynamoDb } from '../../../infra/local/dynamodb.ts';
import { startEventBridge } from '../../../infra/local/eventbridge.ts';
import { startSqs } from '../../../infra/local/sqs.ts';
import { createEventBus } from '../../../shared/aws/event-bus.ts';
import { ItemTable } from '../../../shared/aws/table.ts';
import { tables, tasksTable } from '../../../shared/aws/tables.ts';
import { createOperationQueue } from '../../../shared/aws/tasks/operation-queue.ts';
import { DynamoTaskStore } from '../../../shared/aws/tasks/task-store.ts';
import type { JsonObject } from '../../../shared/core/json.ts';
import type { Logger } from '../../../shared/core/logger.ts';
import type { TaskSystem } from '../../../shared/core/tasks/process-message.ts';
import { localClientOptions, openTestAccess } from '../engines/local-aws-client.ts';
import { getEventsPage } from '../engines/signed-fetch.ts';
import { createTestClock, type TestClock, testRandomness } from '../run/test-clock.ts';

/** A task engine on the local DynamoDB, SQS and EventBridge, with a turnable clock. */
export interface TestTaskSystem extends TaskSystem, AsyncDisposable {
  readonly clock: TestClock;
  readonly table: ItemTable;
  /** Messages that were logged. */
  readonly logged: string[];
  /** Types of the events on the bus about a task, in order. */
  listEvents(taskId: string): Promise<string[]>;
  /** The events on the bus about a task, in order. */
  listTaskEvents(taskId: string): Promise<TaskEvent[]>;
  /** Ids of the tasks whose messages are on the queue now; they are hidden from then on. */
  receiveTaskMessages(): Promise<string[]>;
}

/** An event as the bus has it. */
export interface TaskEvent {
  readonly type: string;
  readonly detail: JsonObject;
}

/** Starts the engines and puts a task engine on them. */
export async function startTaskSystem(): Promise<TestTaskSystem> {
  const dir = await mkdtemp(join(tmpdir(), 'busdriver-engine-'));
  const logged: string[] = [];
  const log = createListLogger(logged);
  const access = openTestAccess();
  const dynamoDb = await startDynamoDb({ dir, tables, access });
  const sqs = await startSqs(access);
  const bus = await startEventBridge({ buses: ['busdriver'], access });
  const queueClient = new SQSClient({ ...localClientOptions, endpoint: sqs.url });
  const { QueueUrl = '' } = await queueClient.send(new CreateQueueCommand({ QueueName: 'operations' }));
  const documents = DynamoDBDocumentClient.from(
    new DynamoDBClient({ ...localClientOptions, endpoint: dynamoDb.url }),
    { marshallOptions: { removeUndefinedValues: true } },
  );
  const clock = createTestClock();
  const table = new ItemTable(documents, tasksTable.name);
  return {
    clock,
    randomness: testRandomness,
    host: 'test-host',
    log,
    logged,
    table,
    store: new DynamoTaskStore({ table, clock, randomness: testRandomness }),
    queue: createOperationQueue(queueClient, QueueUrl),
    bus: createEventBus(
      new EventBridgeClient({ ...localClientOptions, endpoint: bus.url, maxAttempts: 1 }),
      'busdriver',
      { clock, randomness: testRandomness },
    ),
    listEvents: async (taskId) => (await listTaskEvents(bus.url, taskId)).map(({ type }) => type),
    listTaskEvents: (taskId) => listTaskEvents(bus.url, taskId),
    receiveTaskMessages: () => receiveTaskMessages(queueClient, QueueUrl),
    async [Symbol.asyncDispose]() {
      for (const engine of [bus, sqs, dynamoDb]) await engine[Symbol.asyncDispose]();
      await rm(dir, { recursive: true });
    },
  };
}

/**
 * The same engine as a process sees it that dies: once `kill` was called, none of its calls goes out any more, and none
 * comes back.
 */
export function createMortalSystem(system: TaskSystem): { system: TaskSystem; kill(): void } {
  let dead = false;
  const never = new Promise<never>(() => undefined);
  const makeMortal = <T extends object>(part: T): T =>
    new Proxy(part, {
      get(target, name) {
        const member: unknown = Reflect.get(target, name, target);
        if (typeof member !== 'function') return member;
        return async (...parameters: unknown[]) => {
          if (dead) return never;
          const answer: unknown = await member.apply(target, parameters);
          return dead ? never : answer;
        };
      },
    });
  return {
    system: {
      ...system,
      store: makeMortal(system.store),
      queue: makeMortal(system.queue),
      bus: makeMortal(system.bus),
    },
    kill() {
      dead = true;
    },
  };
}

async function listTaskEvents(url: string, taskId: string): Promise<TaskEvent[]> {
  const answer = (await getEventsPage(url, '/events', localClientOptions.credentials)) as {
    events: { event: { 'detail-type': string; detail: JsonObject } }[];
  };
  return answer.events
    .filter(({ event }) => event.detail['taskId'] === taskId)
    .map(({ event }) => ({ type: event['detail-type'], detail: event.detail }));
}

async function receiveTaskMessages(client: SQSClient, queueUrl: string): Promise<string[]> {
  const ids: string[] = [];
  for (;;) {
    const { Messages = [] } = await client.send(
      new ReceiveMessageCommand({ QueueUrl: queueUrl, MaxNumberOfMessages: 10, WaitTimeSeconds: 0 }),
    );
    if (Messages.length === 0) return ids;
    ids.push(...Messages.map(({ Body = '{}' }) => (JSON.parse(Body) as { taskId: string }).taskId));
  }
}

function createListLogger(logged: string[]): Logger {
  const add = (message: string): void => {
    logged.push(message);
  };
  return { debug: add, info: add, warn: add, error: add };
}
