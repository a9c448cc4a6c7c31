import { SendMessageCommand } from '@aws-sdk/client-sqs';
import type { QueueClient } from '#platform/aws/queue-client.ts';
import type { StreamQueue } from '../../scheduling/streams/stream-queue.ts';

/** The queue of streams on SQS: a standard queue. Messages have no group: each covers many accounts. */
export function createStreamQueue(sqs: QueueClient, queueUrl: string): StreamQueue {
  return {
    async send(message) {
      if (message.agents.length === 0) return;
      await sqs.send(new SendMessageCommand({ QueueUrl: queueUrl, MessageBody: JSON.stringify(message) }));
    },
  };
}
