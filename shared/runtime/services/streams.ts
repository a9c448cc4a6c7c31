import { createStreamQueue } from '../../aws/agents/stream-queue.ts';
import type { StreamQueue } from '../../core/agents/streams/stream-queue.ts';
import { type AgentServices, openAgents } from './agents.ts';
import type { Services } from './services.ts';
import { openSqs } from './sqs-client.ts';

/** What functions that follow agents, or send for that, work with. */
export interface StreamServices extends AgentServices {
  readonly streams: StreamQueue;
}

/** What functions that follow agents, or send for that, work with. */
export function openStreams(services: Services): StreamServices {
  return services.get(createStreams);
}

function createStreams(services: Services): StreamServices {
  const agents = openAgents(services);
  const { agentStreamsQueueUrl } = agents.config;
  return { ...agents, streams: createStreamQueue(openSqs(services), agentStreamsQueueUrl) };
}
