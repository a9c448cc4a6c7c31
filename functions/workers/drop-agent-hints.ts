import { openAgentStoreContext } from '../../shared/runtime/agent-store-context.ts';
import { tellDeadHint } from '../../shared/runtime/dead-letters.ts';
import { agentMessages } from '../../shared/runtime/message-kinds.ts';
import { queueHandler } from '../../shared/runtime/queue-handler.ts';

/** Queue `agents-dead-letters`: tells which agents a message named in vain, and why. The scheduler sends for them again. */
export const handler = queueHandler(
  agentMessages,
  openAgentStoreContext,
  async function dropAgentHints(message, context) {
    await tellDeadHint(message, context);
  },
);
