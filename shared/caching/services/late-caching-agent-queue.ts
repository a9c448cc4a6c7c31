import { openBase } from '#platform/services/base.ts';
import type { Services } from '#platform/services/services.ts';
import type { CachingAgentQueue } from '../scheduling/caching-agent-queue.ts';

/** The queue of caching agents. Its client is loaded with the first message: most reads of the cache send none. */
export function createLateCachingAgentQueue(services: Services): CachingAgentQueue {
  let opening: Promise<CachingAgentQueue> | undefined;
  return {
    async send(messages, nowMs) {
      opening ??= openAgentQueue(services);
      await (await opening).send(messages, nowMs);
    },
  };
}

async function openAgentQueue(services: Services): Promise<CachingAgentQueue> {
  const [{ createCachingAgentQueue }, { openSqs }] = await Promise.all([
    import('../aws/agents/caching-agent-queue.ts'),
    import('#platform/services/sqs-client.ts'),
  ]);
  return createCachingAgentQueue(openSqs(services), openBase(services).config.agentsQueueUrl);
}
