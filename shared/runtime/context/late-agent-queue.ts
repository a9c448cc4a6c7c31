import type { AgentQueue } from '../../core/agents/agent-queue.ts';
import type { Config } from '../config.ts';

/** The queue of agents of the configuration. Its client is loaded with the first message: most reads of the cache send none. */
export function createLateAgentQueue(config: Config): AgentQueue {
  let opening: Promise<AgentQueue> | undefined;
  return {
    async send(message, options) {
      opening ??= openAgentQueue(config);
      await (await opening).send(message, options);
    },
  };
}

async function openAgentQueue(config: Config): Promise<AgentQueue> {
  const [{ createAgentQueue }, { openSqs }] = await Promise.all([
    import('../../aws/agents/agent-queue.ts'),
    import('./sqs-client.ts'),
  ]);
  return createAgentQueue(openSqs(config), config.agentsQueueUrl);
}
