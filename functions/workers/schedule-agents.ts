import { publishAccountFacts } from '../../shared/runtime/account-facts.ts';
import { scheduleCachingAgents } from '../../shared/runtime/agents-worker.ts';
import {
  areSettingsUsable,
  openNewestProviderContext,
  openProviderContext,
} from '../../shared/runtime/provider-context.ts';
import { scheduleHandler } from '../../shared/runtime/schedule-handler.ts';
import { openStreamContext } from '../../shared/runtime/stream-context.ts';

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
