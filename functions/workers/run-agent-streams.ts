import { runCachingAgentStreams } from '#caching/events/streams-worker.ts';
import { openStreams } from '#caching/services/streams.ts';
import { streamMessages } from '#http/events/message-kinds.ts';
import { queueHandler } from '#http/events/queue-handler.ts';
import { openProviders } from '#provider-kit/services/providers.ts';

/** Queue `agent-streams`: watches the agents that each message names, for as long as the function may run. */
export const handler = queueHandler(
  streamMessages,
  openStreams,
  async function watchAgents(message, services) {
    await runCachingAgentStreams(message, services, () => openProviders(services.all));
  },
);
