import { openAgentStoreContext } from '../../shared/runtime/agent-store-context.ts';
import { tellDeadHint } from '../../shared/runtime/dead-letters.ts';
import { streamMessages } from '../../shared/runtime/message-kinds.ts';
import { queueHandler } from '../../shared/runtime/queue-handler.ts';

/** Queue `agent-streams-dead-letters`: tells which agents a message named in vain, and why. The scheduler sends for them again. */
export const handler = queueHandler(
  streamMessages,
  openAgentStoreContext,
  async function dropStreamHints(message, context) {
    await tellDeadHint(message, context);
  },
);
