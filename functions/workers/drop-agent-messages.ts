import { reportDeadMessage } from '../../shared/runtime/events/dead-letters.ts';
import { agentMessages } from '../../shared/runtime/events/message-kinds.ts';
import { queueHandler } from '../../shared/runtime/events/queue-handler.ts';
import { openAgentStore } from '../../shared/runtime/services/agent-store.ts';

/** Queue `agents-dead-letters`: tells which agents a failed message named, and why. The scheduler sends for them again. */
export const handler = queueHandler(
  agentMessages,
  openAgentStore,
  async function dropAgentMessages(message, services) {
    // What an event asks for is done by the next run as well.
    const agents = 'event' in message ? [] : message.agents;
    await reportDeadMessage({ agents, deliveries: message.deliveries }, services);
  },
);
