import { publishAccountFacts } from '../../shared/runtime/context/account-facts.ts';
import {
  areSettingsUsable,
  openNewestProviderContext,
  openProviderContext,
} from '../../shared/runtime/context/provider-context.ts';
import { openStreamContext } from '../../shared/runtime/context/stream-context.ts';
import { scheduleCachingAgents } from '../../shared/runtime/events/agents-worker.ts';
import { scheduleHandler } from '../../shared/runtime/events/schedule-handler.ts';

/**
 * Schedule `schedule-agents`: publishes what functions without secrets may know of the accounts, adds and removes agents, and sends
 * for those that are overdue. Neither stops the other. It alone tells CloudWatch how settings and accounts are.
 */
export const handler = scheduleHandler(openStreamContext, async function scheduleAgents(context) {
  try {
    await publishAccountFacts(context, openNewestProviderContext);
  } finally {
    context.recordSettings(areSettingsUsable());
    await scheduleCachingAgents(context, openProviderContext);
  }
});
