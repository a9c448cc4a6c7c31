import { openAgentContext } from '../../shared/runtime/context/agent-context.ts';
import { openProviderContext } from '../../shared/runtime/context/provider-context.ts';
import { runCachingAgents } from '../../shared/runtime/events/agents-worker.ts';
import { agentMessages } from '../../shared/runtime/events/message-kinds.ts';
import { queueHandler } from '../../shared/runtime/events/queue-handler.ts';

/** Queue `agents`: runs the agents that each message names. */
export const handler = queueHandler(
  agentMessages,
  openAgentContext,
  async function runAgents(message, context) {
    await runCachingAgents(message, context, openProviderContext);
  },
);
