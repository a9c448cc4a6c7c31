import { setTimeout as sleep } from 'node:timers/promises';
import { DynamoDBClient, ScanCommand } from '@aws-sdk/client-dynamodb';
import {
  GetQueueAttributesCommand,
  PurgeQueueCommand,
  SendMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import { localAccountId, localRegion } from '#infra/server/functions/local-aws.ts';
import type { EngineCredentials } from '#platform/config.ts';

const pollIntervalMs = 25;

/** Where the system under test keeps tasks and messages. */
export interface Stores {
  /** Endpoint of DynamoDB. */
  readonly dynamodb: string;
  readonly tasksTable: string;
  /** Endpoint of SQS. */
  readonly sqs: string;
  readonly operationsQueue: string;
  /** What their clients sign with. */
  readonly credentials: EngineCredentials;
}

/** Options of a client of DynamoDB. */
export function toDynamoDbOptions({ dynamodb, credentials }: Stores) {
  return { endpoint: dynamodb, region: localRegion, credentials };
}

/** Where queues are. */
export type QueueStore = Pick<Stores, 'sqs' | 'credentials'>;

/** Every item of the table of tasks as text. */
export async function scanTasks(stores: Stores): Promise<string> {
  const client = new DynamoDBClient(toDynamoDbOptions(stores));
  try {
    const items: unknown[] = [];
    let from: Record<string, never> | undefined;
    do {
      const input = {
        TableName: stores.tasksTable,
        ConsistentRead: true,
        ...(from && { ExclusiveStartKey: from }),
      };
      const { Items = [], LastEvaluatedKey } = await client.send(new ScanCommand(input));
      items.push(...Items);
      from = LastEvaluatedKey as typeof from;
    } while (from !== undefined);
    return JSON.stringify(items);
  } finally {
    client.destroy();
  }
}

/** Puts a task's message on the real queue several times at once, as duplicate deliveries would. */
export async function sendTaskMessages(stores: Stores, taskId: string, times: number): Promise<void> {
  const bodies = Array.from({ length: times }, () => JSON.stringify({ taskId }));
  await sendMessages(stores, stores.operationsQueue, bodies);
}

/** Puts messages with these bodies on a queue, all at once. */
export async function sendMessages(
  stores: QueueStore,
  queue: string,
  bodies: readonly string[],
): Promise<void> {
  await useQueue(stores, queue, async (client, QueueUrl) => {
    await Promise.all(
      bodies.map((MessageBody) => client.send(new SendMessageCommand({ QueueUrl, MessageBody }))),
    );
  });
}

/** Takes every message off the queue of operations, hidden ones too. Without open tasks nothing is lost by it. */
export async function purgeQueue(stores: Stores): Promise<void> {
  await useQueue(stores, stores.operationsQueue, async (client, QueueUrl) => {
    await client.send(new PurgeQueueCommand({ QueueUrl }));
  });
}

/**
 * Waits until a queue holds no message that is visible or being worked on; delayed ones may be left.
 *
 * @param queue default: that of operations
 * @returns whether it came to that in time
 */
export async function awaitEmptyQueue(
  stores: Stores,
  timeoutMs: number,
  queue = stores.operationsQueue,
): Promise<boolean> {
  return useQueue(stores, queue, async (client, url) => {
    const endsAtMs = performance.now() + timeoutMs;
    while ((await countMessages(client, url)) > 0) {
      if (performance.now() > endsAtMs) return false;
      await sleep(pollIntervalMs);
    }
    return true;
  });
}

async function useQueue<T>(
  { sqs: endpoint, credentials }: QueueStore,
  queue: string,
  use: (client: SQSClient, url: string) => Promise<T>,
): Promise<T> {
  const client = new SQSClient({ endpoint, region: localRegion, credentials });
  try {
    return await use(client, `${endpoint}/${localAccountId}/${queue}`);
  } finally {
    client.destroy();
  }
}

async function countMessages(client: SQSClient, url: string): Promise<number> {
  const { Attributes = {} } = await client.send(
    new GetQueueAttributesCommand({
      QueueUrl: url,
      AttributeNames: ['ApproximateNumberOfMessages', 'ApproximateNumberOfMessagesNotVisible'],
    }),
  );
  return Object.values(Attributes).reduce((sum, count) => sum + Number(count), 0);
}
