import { openCachingAgentStore } from '#caching/services/caching-agent-store.ts';
import { reportDeadMessage } from '#http/events/dead-letters.ts';
import { agentMessages } from '#http/events/message-kinds.ts';
import { queueHandler } from '#http/events/queue-handler.ts';

/** Queue `agents-dead-letters`: tells which agents a failed message named, and why. The scheduler sends for them again. */
export const handler = queueHandler(
  agentMessages,
  openCachingAgentStore,
  async function dropAgentMessages(message, services) {
    // What an event asks for is done by the next run as well.
    const agents = 'event' in message ? [] : message.agents;
    await reportDeadMessage({ agents, deliveries: message.deliveries }, services);
  },
);
