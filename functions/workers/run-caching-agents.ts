import { runCachingAgents } from '#caching/events/caching-agents-worker.ts';
import { openCachingAgents } from '#caching/services/caching-agents.ts';
import { agentMessages } from '#http/events/message-kinds.ts';
import { queueHandler } from '#http/events/queue-handler.ts';
import { openProviders } from '#provider-kit/services/providers.ts';

/** Queue `agents`: runs the agents that each message names, and does what events of AWS ask for. */
export const handler = queueHandler(
  agentMessages,
  openCachingAgents,
  async function runAgents(message, services) {
    await runCachingAgents(message, services, () => openProviders(services.all));
  },
);
