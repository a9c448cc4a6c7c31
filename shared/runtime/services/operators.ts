import { ItemTable } from '../../aws/table.ts';
import { DynamoAgentDirectory } from '../../aws/tasks/agent-directory.ts';
import { DynamoAgentTaskList } from '../../aws/tasks/agent-task-list.ts';
import type { AgentSettings } from '../../core/settings/agent-settings.ts';
import type { AgentDirectory } from '../../core/tasks/agent-directory.ts';
import type { AgentEnrolmentStore } from '../../core/tasks/agent-enrolment.ts';
import type { AgentTaskList } from '../../core/tasks/agent-operation.ts';
import type { AgentSessionStore } from '../../core/tasks/agent-session.ts';
import type { InboxStore } from '../../core/tasks/task-inbox.ts';
import { openAgentEnrolments } from './agent-enrolments.ts';
import { openInboxes } from './agent-inboxes.ts';
import { openAgentSessions } from './agent-sessions.ts';
import { openDocuments } from './aws-clients.ts';
import { openBase } from './base.ts';
import { type OperationsServices, openOperations } from './operations.ts';
import { getServedAgents } from './served-agents.ts';
import type { Services } from './services.ts';

/** What functions work with that operators of agents call. */
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
  const { clock } = openBase(services);
  return new DynamoAgentDirectory({
    table: openTable(services),
    sessions: openAgentSessions(services),
    clock,
  });
}

function createTaskList(services: Services): AgentTaskList {
  const { clock } = openBase(services);
  return new DynamoAgentTaskList({ table: openTable(services), clock });
}

function openTable(services: Services): ItemTable {
  const { config } = openBase(services);
  return new ItemTable(openDocuments(services, 'request'), config.tasksTable);
}
