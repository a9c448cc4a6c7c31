import { CreateQueueCommand } from '@aws-sdk/client-sqs';
import type { Queue } from '#functions/queues.ts';
import { type EventSource, type QueueClient, toQueueArn } from './workers.ts';

/** Makes each queue with its dead-letter queue, as CDK does. */
export async function createQueues(sqs: QueueClient, all: readonly Queue[]): Promise<void> {
  const create = (QueueName: string, Attributes: { [name: string]: string }) =>
    sqs.send(new CreateQueueCommand({ QueueName, Attributes }));
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
}

/** What feeds the functions of the queues, and of their dead letters. @param toUrl makes the URL of a queue of its name */
export function toEventSources(
  all: readonly Queue[],
  toUrl: (queueName: string) => string,
): readonly EventSource[] {
  return all
    .flatMap((queue) => [
      { ...queue, queueName: queue.name },
      { ...queue, queueName: toDeadLetterName(queue), module: queue.deadLetterModule, concurrency: 1 },
    ])
    .map((source) => ({ ...source, queueUrl: toUrl(source.queueName) }));
}

function toDeadLetterName({ name }: Queue): string {
  return `${name}-dead-letters`;
}
