import type { Services } from '#platform/services/services.ts';
import { openSqs } from '#platform/services/sqs-client.ts';
import { createStreamQueue } from '../aws/agents/stream-queue.ts';
import type { StreamQueue } from '../scheduling/streams/stream-queue.ts';
import { type CachingAgentServices, openCachingAgents } from './caching-agents.ts';

/** What functions that follow agents, or send for that, work with. */
export interface StreamServices extends CachingAgentServices {
  readonly streams: StreamQueue;
}

/** What functions that follow agents, or send for that, work with. */
export function openStreams(services: Services): StreamServices {
  return services.get(createStreams);
}

function createStreams(services: Services): StreamServices {
  const agents = openCachingAgents(services);
  const { agentStreamsQueueUrl } = agents.config;
  return { ...agents, streams: createStreamQueue(openSqs(services), agentStreamsQueueUrl) };
}
