import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { SQSClient } from '@aws-sdk/client-sqs';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { createOperationQueue } from '../aws/operation-queue.ts';
import { ItemTable } from '../aws/table.ts';
import { DynamoTaskStore } from '../aws/task-store.ts';
import type { TaskSystem } from '../core/process-hint.ts';
import type { EventBus } from '../core/task-events.ts';
import { type BaseContext, openBaseContext } from './base-context.ts';

/** What functions that deal with tasks work with. */
export interface TaskContext extends BaseContext, TaskSystem {}

/** Time-outs of each call to an AWS service, milliseconds. */
const requestHandler = { connectionTimeout: 3_000, requestTimeout: 6_000, throwOnRequestTimeout: true };

/** Attempts of each call to an AWS service: the SDK backs off with jitter between them. */
const maxAttempts = 4;

/**
 * Region and credentials for the local engines, which check neither. The environment keeps the user's own: a kubeconfig
 * whose user is `aws eks get-token` needs them.
 */
const localClient = {
  region: 'us-east-1',
  credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
};

let opened: TaskContext | undefined;

/** The context of this process, made from its environment on first use and shared from then on. */
export function openTaskContext(): TaskContext {
  opened ??= createTaskContext(openBaseContext());
  return opened;
}

function createTaskContext(base: BaseContext): TaskContext {
  const { config, clock, randomness } = base;
  const client = { requestHandler, maxAttempts, ...(config.placement === 'local' && localClient) };
  const documents = DynamoDBDocumentClient.from(new DynamoDBClient(client), {
    marshallOptions: { removeUndefinedValues: true },
  });
  const table = new ItemTable(documents, config.tasksTable);
  return {
    ...base,
    store: new DynamoTaskStore({ table, clock, randomness }),
    queue: createOperationQueue(new SQSClient(client), config.operationsQueueUrl),
    bus: createLateBus(async () => {
      const { openEventBus } = await import('../aws/event-bus.ts');
      return openEventBus(client, config.busName);
    }),
  };
}

/** A bus that is opened, and its client loaded, with the first event: most functions publish none. */
function createLateBus(open: () => Promise<EventBus>): EventBus {
  let opening: Promise<EventBus> | undefined;
  return {
    async publish(events) {
      opening ??= open();
      await (await opening).publish(events);
    },
  };
}
