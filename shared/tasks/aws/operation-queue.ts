import { ChangeMessageVisibilityCommand, SendMessageCommand } from '@aws-sdk/client-sqs';
import { toGroupId } from '#platform/aws/group-id.ts';
import type { QueueClient } from '#platform/aws/queue-client.ts';
import type { OperationQueue } from '../operation-queue.ts';

/** The queue of operations on SQS: a standard queue whose message groups are accounts (a fair queue). */
export function createOperationQueue(sqs: QueueClient, queueUrl: string): OperationQueue {
  return {
    async send({ taskId, account, delaySeconds }) {
      await sqs.send(
        new SendMessageCommand({
          QueueUrl: queueUrl,
          MessageBody: JSON.stringify({ taskId }),
          MessageGroupId: toGroupId(account),
          ...(delaySeconds !== undefined &&
            delaySeconds > 0 && { DelaySeconds: Math.min(delaySeconds, 900) }),
        }),
      );
    },
    async extendVisibility(receiptHandle, seconds) {
      await sqs.send(
        new ChangeMessageVisibilityCommand({
          QueueUrl: queueUrl,
          ReceiptHandle: receiptHandle,
          VisibilityTimeout: seconds,
        }),
      );
    },
  };
}
