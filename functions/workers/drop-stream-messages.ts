import { reportDeadMessage } from '../../shared/runtime/events/dead-letters.ts';
import { streamMessages } from '../../shared/runtime/events/message-kinds.ts';
import { queueHandler } from '../../shared/runtime/events/queue-handler.ts';
import { openAgentStore } from '../../shared/runtime/services/agent-store.ts';

/** Queue `agent-streams-dead-letters`: tells which agents a failed message named, and why. The scheduler sends for them again. */
export const handler = queueHandler(
  streamMessages,
  openAgentStore,
  async function dropStreamMessages(message, services) {
    await reportDeadMessage(message, services);
  },
);
