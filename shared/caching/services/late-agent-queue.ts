import { openBase } from '#platform/services/base.ts';
import type { Services } from '#platform/services/services.ts';
import type { AgentQueue } from '../scheduling/agent-queue.ts';

/** The queue of agents. Its client is loaded with the first message: most reads of the cache send none. */
export function createLateAgentQueue(services: Services): AgentQueue {
  let opening: Promise<AgentQueue> | undefined;
  return {
    async send(messages, nowMs) {
      opening ??= openAgentQueue(services);
      await (await opening).send(messages, nowMs);
    },
  };
}

async function openAgentQueue(services: Services): Promise<AgentQueue> {
  const [{ createAgentQueue }, { openSqs }] = await Promise.all([
    import('../aws/agents/agent-queue.ts'),
    import('#platform/services/sqs-client.ts'),
  ]);
  return createAgentQueue(openSqs(services), openBase(services).config.agentsQueueUrl);
}
