import { tellAgentsOfChange } from '#accounts/events/changed-account.ts';
import { publishAccountFacts } from '#accounts/services/account-facts.ts';
import { completeAccountChanges } from '#accounts/services/account-store.ts';
import { scheduleCachingAgents } from '#caching/events/caching-agents-worker.ts';
import { openStreams } from '#caching/services/streams.ts';
import { scheduleHandler } from '#http/events/schedule-handler.ts';
import {
  areSettingsUsable,
  openNewestProviders,
  openProviders,
  quickFactsAgeMs,
} from '#provider-kit/services/providers.ts';

/**
 * Schedule `schedule-agents`: publishes what functions without secrets may know of the accounts, adds and removes agents, and sends
 * for those that are overdue. Neither stops the other. It alone tells CloudWatch how settings and accounts are. Agents in clusters whose
 * account was changed are told when that is published.
 */
export const handler = scheduleHandler(openStreams, async function scheduleAgents(services, event) {
  try {
    await publishAccountFacts(services, () => openNewestProviders(services.all));
  } finally {
    services.recordSettings(areSettingsUsable(services.all));
    await scheduleCachingAgents(services, () => openProviders(services.all));
    await completeAccountChanges(services, () => openProviders(services.all));
  }
  await tellAgentsOfChange(services, event, quickFactsAgeMs);
});
