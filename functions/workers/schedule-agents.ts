import { scheduleCachingAgents } from '../../shared/runtime/events/agents-worker.ts';
import { tellAgentsOfChange } from '../../shared/runtime/events/changed-account.ts';
import { scheduleHandler } from '../../shared/runtime/events/schedule-handler.ts';
import { publishAccountFacts } from '../../shared/runtime/services/account-facts.ts';
import { completeAccountChanges } from '../../shared/runtime/services/account-store.ts';
import {
  areSettingsUsable,
  openNewestProviders,
  openProviders,
  quickFactsAgeMs,
} from '../../shared/runtime/services/providers.ts';
import { openStreams } from '../../shared/runtime/services/streams.ts';

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
