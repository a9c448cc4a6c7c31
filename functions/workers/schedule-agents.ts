import { scheduleCachingAgents } from '../../shared/runtime/agents-worker.ts';
import { openProviderContext } from '../../shared/runtime/provider-context.ts';
import { scheduleHandler } from '../../shared/runtime/schedule-handler.ts';
import { openStreamContext } from '../../shared/runtime/stream-context.ts';

/** Schedule `schedule-agents`: adds and removes agents, and sends for those that are overdue. */
export const handler = scheduleHandler(openStreamContext, async function scheduleAgents(context) {
  await scheduleCachingAgents(context, openProviderContext);
});
