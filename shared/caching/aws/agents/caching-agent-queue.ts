import { SendMessageBatchCommand } from '@aws-sdk/client-sqs';
import { toGroupId } from '#platform/aws/group-id.ts';
import type { QueueClient } from '#platform/aws/queue-client.ts';
import type { CachingAgentMessage, CachingAgentQueue } from '../../scheduling/caching-agent-queue.ts';

/** The longest delay of a message in SQS: 15 minutes. */
const delaySecondsMax = 900;

/**
 * The queue of caching agents on SQS: a standard queue. A message for one caching agent has its account as message group, so that a slow
 * account does not hold up others (a fair queue). Messages for several have no group.
 */
export function createCachingAgentQueue(sqs: QueueClient, queueUrl: string): CachingAgentQueue {
  return {
    async send(messages, nowMs) {
      const entries = messages.map((message, index) => ({ Id: String(index), ...toEntry(message, nowMs) }));
      const command = new SendMessageBatchCommand({ QueueUrl: queueUrl, Entries: entries });
      const { Failed: failed = [] } = await sqs.send(command);
      const [first] = failed;
      if (first === undefined) return;
      throw new Error(
        `${failed.length} of ${messages.length} messages were refused: ${first.Code} ${first.Message ?? ''}`,
      );
    },
  };
}

function toEntry(message: CachingAgentMessage, nowMs: number) {
  const [first, ...others] = message.agents;
  const delaySeconds = Math.min(Math.ceil((message.dueMs - nowMs) / 1000), delaySecondsMax);
  return {
    MessageBody: JSON.stringify(message),
    ...(first !== undefined && others.length === 0 && { MessageGroupId: toGroupId(first.account) }),
    ...(delaySeconds > 0 && { DelaySeconds: delaySeconds }),
  };
}
