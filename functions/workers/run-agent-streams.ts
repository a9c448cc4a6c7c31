import { openProviderContext } from '../../shared/runtime/context/provider-context.ts';
import { openStreamContext } from '../../shared/runtime/context/stream-context.ts';
import { streamMessages } from '../../shared/runtime/events/message-kinds.ts';
import { queueHandler } from '../../shared/runtime/events/queue-handler.ts';
import { runAgentStreams } from '../../shared/runtime/events/streams-worker.ts';

/** Queue `agent-streams`: follows the agents that each message names, for as long as the function may run. */
export const handler = queueHandler(
  streamMessages,
  openStreamContext,
  async function followAgents(message, context) {
    await runAgentStreams(message, context, openProviderContext);
  },
);
