import { ItemTable } from '../../aws/table.ts';
import { DynamoAgentEnrolmentStore } from '../../aws/tasks/agent-enrolment-store.ts';
import type { AgentEnrolmentStore } from '../../core/tasks/agent-enrolment.ts';
import { openDocuments } from './aws-clients.ts';
import { openBase } from './base.ts';
import type { Services } from './services.ts';

/** What is known of the agents of accounts. */
export function openAgentEnrolments(services: Services): AgentEnrolmentStore {
  return services.get(createEnrolments);
}

function createEnrolments(services: Services): AgentEnrolmentStore {
  const { config } = openBase(services);
  return new DynamoAgentEnrolmentStore({
    table: new ItemTable(openDocuments(services, 'request'), config.tasksTable),
  });
}
