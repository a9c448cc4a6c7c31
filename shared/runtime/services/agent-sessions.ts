import { ItemTable } from '../../aws/table.ts';
import { DynamoAgentSessionStore } from '../../aws/tasks/agent-session-store.ts';
import type { AgentSessionStore } from '../../core/tasks/agent-session.ts';
import { openDocuments } from './aws-clients.ts';
import { openBase } from './base.ts';
import type { Services } from './services.ts';

/** The sessions of agents. */
export function openAgentSessions(services: Services): AgentSessionStore {
  return services.get(createSessions);
}

function createSessions(services: Services): AgentSessionStore {
  const { config, clock } = openBase(services);
  const table = new ItemTable(openDocuments(services, 'request'), config.tasksTable);
  return new DynamoAgentSessionStore({ table, clock });
}
