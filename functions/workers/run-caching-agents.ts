import { runCachingAgents } from '../../shared/runtime/events/agents-worker.ts';
import { agentMessages } from '../../shared/runtime/events/message-kinds.ts';
import { queueHandler } from '../../shared/runtime/events/queue-handler.ts';
import { openAgents } from '../../shared/runtime/services/agents.ts';
import { openProviders } from '../../shared/runtime/services/providers.ts';

/** Queue `agents`: runs the agents that each message names, and does what events of AWS ask for. */
export const handler = queueHandler(agentMessages, openAgents, async function runAgents(message, services) {
  await runCachingAgents(message, services, () => openProviders(services.all));
});
