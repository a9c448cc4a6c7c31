import { openAgentContext } from '../../shared/runtime/agent-context.ts';
import { scheduleCachingAgents } from '../../shared/runtime/agents-worker.ts';
import { openProviderContext } from '../../shared/runtime/provider-context.ts';
import { scheduleHandler } from '../../shared/runtime/schedule-handler.ts';

/** Schedule `schedule-agents`: adds and removes agents, and sends for those that are overdue. */
export const handler = scheduleHandler(openAgentContext, async function scheduleAgents(context) {
  await scheduleCachingAgents(context, openProviderContext);
});
