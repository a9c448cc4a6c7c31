import { openAgentStoreContext } from '../../shared/runtime/context/agent-store-context.ts';
import { tellDeadHint } from '../../shared/runtime/events/dead-letters.ts';
import { streamMessages } from '../../shared/runtime/events/message-kinds.ts';
import { queueHandler } from '../../shared/runtime/events/queue-handler.ts';

/** Queue `agent-streams-dead-letters`: tells which agents a failed message named, and why. The scheduler sends for them again. */
export const handler = queueHandler(
  streamMessages,
  openAgentStoreContext,
  async function dropStreamHints(message, context) {
    await tellDeadHint(message, context);
  },
);
