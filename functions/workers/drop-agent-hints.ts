import { openBaseContext } from '../../shared/runtime/base-context.ts';
import { agentMessages } from '../../shared/runtime/message-kinds.ts';
import { queueHandler } from '../../shared/runtime/queue-handler.ts';

/** Queue `agents-dead-letters`: tells which agents took their worker along. The scheduler sends for them again. */
export const handler = queueHandler(
  agentMessages,
  openBaseContext,
  async function dropAgentHints(message, { log }) {
    log.error('workers died of a message for these agents', {
      agents: message.agents,
      deliveries: message.deliveries,
    });
  },
);
