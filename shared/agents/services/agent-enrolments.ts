import { openTable } from '#platform/services/aws-clients.ts';
import type { Services } from '#platform/services/services.ts';
import type { AgentEnrolmentStore } from '../agent-enrolment.ts';
import { createEnrolmentStore } from '../aws/agent-enrolment-store.ts';

/** Enrolments of the agents of accounts. */
export function openAgentEnrolments(services: Services): AgentEnrolmentStore {
  return services.get(createEnrolments);
}

function createEnrolments(services: Services): AgentEnrolmentStore {
  return createEnrolmentStore(openTable(services, 'tasks'));
}
