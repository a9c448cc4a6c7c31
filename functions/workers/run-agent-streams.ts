import { streamMessages } from '../../shared/runtime/events/message-kinds.ts';
import { queueHandler } from '../../shared/runtime/events/queue-handler.ts';
import { runAgentStreams } from '../../shared/runtime/events/streams-worker.ts';
import { openProviders } from '../../shared/runtime/services/providers.ts';
import { openStreams } from '../../shared/runtime/services/streams.ts';

/** Queue `agent-streams`: watches the agents that each message names, for as long as the function may run. */
export const handler = queueHandler(
  streamMessages,
  openStreams,
  async function watchAgents(message, services) {
    await runAgentStreams(message, services, () => openProviders(services.all));
  },
);
