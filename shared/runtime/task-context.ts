import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { EventBridgeClient } from '@aws-sdk/client-eventbridge';
import { SQSClient } from '@aws-sdk/client-sqs';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { createEventBus } from '../aws/event-bus.ts';
import { createOperationQueue } from '../aws/operation-queue.ts';
import { ItemTable } from '../aws/table.ts';
import { DynamoTaskStore } from '../aws/task-store.ts';
import type { TaskSystem } from '../core/process-hint.ts';
import { type Config, readConfig } from './config.ts';
import { createLogger } from './logger.ts';
import { getHost, systemClock, systemRandomness } from './system.ts';

/** What functions that only deal with tasks work with. */
export interface TaskContext extends TaskSystem {
  readonly config: Config;
}

/** Time-outs of each call to an AWS service, milliseconds. */
const requestHandler = { connectionTimeout: 1_000, requestTimeout: 5_000, throwOnRequestTimeout: true };

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
  opened ??= createTaskContext(readConfig());
  return opened;
}

function createTaskContext(config: Config): TaskContext {
  const client = { requestHandler, maxAttempts, ...(config.placement === 'local' && localClient) };
  const documents = DynamoDBDocumentClient.from(new DynamoDBClient(client), {
    marshallOptions: { removeUndefinedValues: true },
  });
  return {
    config,
    clock: systemClock,
    randomness: systemRandomness,
    host: getHost(),
    log: createLogger(config),
    store: new DynamoTaskStore({
      table: new ItemTable(documents, config.tasksTable),
      clock: systemClock,
      randomness: systemRandomness,
    }),
    queue: createOperationQueue(new SQSClient(client), config.operationsQueueUrl),
    bus: createEventBus(new EventBridgeClient(client), config.busName),
  };
}
