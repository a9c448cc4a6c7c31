import { openAgentStoreContext } from '../../shared/runtime/context/agent-store-context.ts';
import { tellDeadHint } from '../../shared/runtime/events/dead-letters.ts';
import { agentMessages } from '../../shared/runtime/events/message-kinds.ts';
import { queueHandler } from '../../shared/runtime/events/queue-handler.ts';

/** Queue `agents-dead-letters`: tells which agents a failed message named, and why. The scheduler sends for them again. */
export const handler = queueHandler(
  agentMessages,
  openAgentStoreContext,
  async function dropAgentHints(message, context) {
    await tellDeadHint(message, context);
  },
);
