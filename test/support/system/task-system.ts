import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CreateQueueCommand, ReceiveMessageCommand } from '@aws-sdk/client-sqs';
import { asJsonObject, type JsonObject } from '#core/json.ts';
import type { Logger } from '#core/logger.ts';
import { TableEngine } from '#infra/local/engines/dynamodb/tables.ts';
import { BusEngine } from '#infra/local/engines/eventbridge/bus-engine.ts';
import type { BusEvent } from '#infra/local/engines/eventbridge/bus-events.ts';
import { QueueEngine, toQueueUrl } from '#infra/local/engines/sqs/queue-engine.ts';
import { toClients } from '#infra/local/local-engines.ts';
import { createEventBus } from '#platform/aws/event-bus.ts';
import type { QueueClient } from '#platform/aws/queue-client.ts';
import { ItemTable } from '#platform/aws/table.ts';
import { tables, tasksTable } from '#platform/aws/tables.ts';
import { createOperationQueue } from '#tasks/aws/operation-queue.ts';
import { DynamoTaskStore } from '#tasks/aws/task-store.ts';
import type { TaskSystem } from '#tasks/process-message.ts';
import { silentLog } from '../engines/silent-log.ts';
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
  /** The queue `operations`, as what feeds workers reads it. */
  readonly messages: { readonly sqs: QueueClient; readonly queueUrl: string };
  /** Ids of the tasks whose messages are on the queue now; they are hidden from then on. */
  receiveTaskMessages(): Promise<string[]>;
}

/** An event as the bus has it. */
export interface TaskEvent {
  readonly type: string;
  readonly detail: JsonObject;
}

/** Starts the engines and puts a task engine on them. @param clock default: one that runs with the machine's */
export async function startTaskSystem(clock = createTestClock()): Promise<TestTaskSystem> {
  const dir = await mkdtemp(join(tmpdir(), 'busdriver-engine-'));
  const logged: string[] = [];
  const log = createListLogger(logged);
  const dynamodb = new TableEngine({ file: join(dir, 'tables.sqlite'), tables, log: silentLog });
  const [sqs, eventbridge] = [new QueueEngine(), new BusEngine(['busdriver'])];
  const clients = toClients({ dynamodb, sqs, eventbridge }, {});
  const events: BusEvent[] = [];
  eventbridge.on('event', (event) => void events.push(event));
  await clients.sqs.send(new CreateQueueCommand({ QueueName: 'operations' }));
  const queueUrl = toQueueUrl('operations');
  const table = new ItemTable(clients.dynamodb, tasksTable.name);
  return {
    clock,
    randomness: testRandomness,
    host: 'test-host',
    log,
    logged,
    table,
    store: new DynamoTaskStore({ table, clock, randomness: testRandomness }),
    queue: createOperationQueue(clients.sqs, queueUrl),
    messages: { sqs: clients.sqs, queueUrl },
    bus: createEventBus(clients.eventbridge, 'busdriver', { clock, randomness: testRandomness }),
    listEvents: async (taskId) => listTaskEvents(events, taskId).map(({ type }) => type),
    listTaskEvents: async (taskId) => listTaskEvents(events, taskId),
    receiveTaskMessages: () => receiveTaskMessages(clients.sqs, queueUrl),
    async [Symbol.asyncDispose]() {
      for (const engine of [eventbridge, sqs, dynamodb]) await engine[Symbol.asyncDispose]();
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

function listTaskEvents(events: readonly BusEvent[], taskId: string): TaskEvent[] {
  return events
    .map(({ detail, ...event }) => ({
      type: String(event['detail-type']),
      detail: asJsonObject(detail) ?? {},
    }))
    .filter(({ detail }) => detail['taskId'] === taskId);
}

async function receiveTaskMessages(client: QueueClient, queueUrl: string): Promise<string[]> {
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
