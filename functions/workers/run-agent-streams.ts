import { streamMessages } from '../../shared/runtime/message-kinds.ts';
import { openProviderContext } from '../../shared/runtime/provider-context.ts';
import { queueHandler } from '../../shared/runtime/queue-handler.ts';
import { openStreamContext } from '../../shared/runtime/stream-context.ts';
import { runAgentStreams } from '../../shared/runtime/streams-worker.ts';

/** Queue `agent-streams`: follows the agents that each message names, for as long as the function may run. */
export const handler = queueHandler(
  streamMessages,
  openStreamContext,
  async function followAgents(message, context) {
    await runAgentStreams(message, context, openProviderContext);
  },
);
