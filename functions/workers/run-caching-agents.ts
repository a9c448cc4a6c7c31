import { runCachingAgents } from '#caching/events/agents-worker.ts';
import { openAgents } from '#caching/services/agents.ts';
import { agentMessages } from '#http/events/message-kinds.ts';
import { queueHandler } from '#http/events/queue-handler.ts';
import { openProviders } from '#provider-kit/services/providers.ts';

/** Queue `agents`: runs the agents that each message names, and does what events of AWS ask for. */
export const handler = queueHandler(agentMessages, openAgents, async function runAgents(message, services) {
  await runCachingAgents(message, services, () => openProviders(services.all));
});
