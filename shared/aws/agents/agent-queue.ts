import { SendMessageCommand, type SQSClient } from '@aws-sdk/client-sqs';
import type { AgentQueue } from '../../core/agents/agent-queue.ts';
import { toGroupId } from './group-id.ts';

/** SQS delays a message by no more: 15 minutes. */
const delaySecondsMax = 900;

/**
 * The queue of agents on SQS: a standard queue. A message for one agent belongs to the group of its account, so that an account
 * that takes long does not hold up others (a fair queue); messages for several have no group.
 */
export function createAgentQueue(sqs: SQSClient, queueUrl: string): AgentQueue {
  return {
    async send(message, { delaySeconds = 0 } = {}) {
      const [first, ...others] = message.agents;
      if (first === undefined) return;
      await sqs.send(
        new SendMessageCommand({
          QueueUrl: queueUrl,
          MessageBody: JSON.stringify(message),
          ...(others.length === 0 && { MessageGroupId: toGroupId(first.account) }),
          ...(delaySeconds > 0 && { DelaySeconds: Math.min(Math.ceil(delaySeconds), delaySecondsMax) }),
        }),
      );
    },
  };
}
