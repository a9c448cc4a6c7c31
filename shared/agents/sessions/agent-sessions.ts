import { openTable } from '#platform/services/aws-clients.ts';
import type { Services } from '#platform/services/services.ts';
import type { AgentSessionStore } from '../agent-session.ts';
import { DynamoAgentSessionStore } from '../aws/agent-session-store.ts';

/** The sessions of agents. */
export function openAgentSessions(services: Services): AgentSessionStore {
  return services.get(createSessions);
}

function createSessions(services: Services): AgentSessionStore {
  return new DynamoAgentSessionStore(openTable(services, 'tasks'));
}
