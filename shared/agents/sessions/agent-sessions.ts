import { ItemTable } from '#platform/aws/table.ts';
import { openDocuments } from '#platform/services/aws-clients.ts';
import { openBase } from '#platform/services/base.ts';
import type { Services } from '#platform/services/services.ts';
import type { AgentSessionStore } from '../agent-session.ts';
import { DynamoAgentSessionStore } from '../aws/agent-session-store.ts';

/** The sessions of agents. */
export function openAgentSessions(services: Services): AgentSessionStore {
  return services.get(createSessions);
}

function createSessions(services: Services): AgentSessionStore {
  const { config, clock } = openBase(services);
  const table = new ItemTable(openDocuments(services, 'request'), config.tasksTable);
  return new DynamoAgentSessionStore({ table, clock });
}
