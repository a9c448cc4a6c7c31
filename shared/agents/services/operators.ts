import { openTable } from '#platform/services/aws-clients.ts';
import type { Services } from '#platform/services/services.ts';
import type { AgentSettings } from '#settings/agent-settings.ts';
import { createAgentTaskList } from '#tasks/aws/agent-task-list.ts';
import { type OperationsServices, openOperations } from '#tasks/services/operations.ts';
import type { InboxStore } from '#tasks/task-inbox.ts';
import type { AgentDirectory } from '../agent-directory.ts';
import type { AgentEnrolmentStore } from '../agent-enrolment.ts';
import type { AgentTaskList } from '../agent-operation.ts';
import type { AgentSessionStore } from '../agent-session.ts';
import { createAgentDirectory } from '../aws/agent-directory.ts';
import { openAgentSessions } from '../sessions/agent-sessions.ts';
import { openAgentEnrolments } from './agent-enrolments.ts';
import { openInboxes } from './agent-inboxes.ts';
import { getServedAgents } from './served-agents.ts';

/** Dependencies of the functions that operators of agents call. */
export interface OperatorServices extends OperationsServices {
  readonly agentSettings: AgentSettings;
  readonly sessions: AgentSessionStore;
  readonly enrolments: AgentEnrolmentStore;
  readonly inboxes: InboxStore;
  readonly directory: AgentDirectory;
  readonly agentTasks: AgentTaskList;
}

/**
 * Opens what functions work with that operators of agents call. Deployed they know nothing of the key by which sessions are signed.
 *
 * @throws NotFoundError where agents are not served; what `openProviders` throws
 */
export async function openOperators(services: Services): Promise<OperatorServices> {
  const opened = await openOperations(services);
  const agentSettings = getServedAgents(opened.settings);
  return {
    ...opened,
    agentSettings,
    sessions: openAgentSessions(services),
    enrolments: openAgentEnrolments(services),
    inboxes: openInboxes(services),
    directory: services.get(createDirectory),
    agentTasks: services.get(createTaskList),
  };
}

function createDirectory(services: Services): AgentDirectory {
  return createAgentDirectory({ ...openTable(services, 'tasks'), sessions: openAgentSessions(services) });
}

function createTaskList(services: Services): AgentTaskList {
  return createAgentTaskList(openTable(services, 'tasks'));
}
