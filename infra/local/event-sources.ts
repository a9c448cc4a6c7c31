import { CreateQueueCommand, SQSClient } from '@aws-sdk/client-sqs';
import type { Queue } from '../../functions/queues.ts';
import type { EngineClientOptions } from './engine-access.ts';
import { type EventSource, toQueueArn } from './workers.ts';

/** Makes each queue with its dead-letter queue, as CDK does. */
export async function createQueues(sqs: EngineClientOptions, all: readonly Queue[]): Promise<void> {
  const client = new SQSClient(sqs);
  const create = (QueueName: string, Attributes: { [name: string]: string }) =>
    client.send(new CreateQueueCommand({ QueueName, Attributes }));
  for (const queue of all) {
    const settings = {
      MessageRetentionPeriod: String(queue.retentionSeconds),
      VisibilityTimeout: String(queue.visibilityTimeoutSeconds),
    };
    const deadLetters = toDeadLetterName(queue);
    await create(deadLetters, settings);
    const redrive = { deadLetterTargetArn: toQueueArn(deadLetters), maxReceiveCount: queue.receivesMax };
    await create(queue.name, { ...settings, RedrivePolicy: JSON.stringify(redrive) });
  }
  client.destroy();
}

/** What feeds the functions of the queues, and of their dead letters. */
export function toEventSources(all: readonly Queue[]): readonly EventSource[] {
  return all.flatMap((queue) => [
    { ...queue, queueName: queue.name },
    { ...queue, queueName: toDeadLetterName(queue), module: queue.deadLetterModule, concurrency: 1 },
  ]);
}

function toDeadLetterName({ name }: Queue): string {
  return `${name}-dead-letters`;
}
