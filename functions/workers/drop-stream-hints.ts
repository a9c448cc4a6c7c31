import { openBaseContext } from '../../shared/runtime/base-context.ts';
import { streamMessages } from '../../shared/runtime/message-kinds.ts';
import { queueHandler } from '../../shared/runtime/queue-handler.ts';

/** Queue `agent-streams-dead-letters`: tells which agents took their worker along. The scheduler sends for them again. */
export const handler = queueHandler(
  streamMessages,
  openBaseContext,
  async function dropStreamHints(message, { log }) {
    log.error('workers died of a message for these followed agents', {
      agents: message.agents,
      deliveries: message.deliveries,
    });
  },
);
