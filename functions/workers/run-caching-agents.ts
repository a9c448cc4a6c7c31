import { openAgentContext } from '../../shared/runtime/agent-context.ts';
import { runCachingAgents } from '../../shared/runtime/agents-worker.ts';
import { agentMessages } from '../../shared/runtime/message-kinds.ts';
import { openProviderContext } from '../../shared/runtime/provider-context.ts';
import { queueHandler } from '../../shared/runtime/queue-handler.ts';

/** Queue `agents`: runs the agents that each message names. */
export const handler = queueHandler(
  agentMessages,
  openAgentContext,
  async function runAgents(message, context) {
    await runCachingAgents(message, context, openProviderContext);
  },
);
