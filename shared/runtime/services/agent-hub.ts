import { proofAudience } from '../../agent-protocol/messages.ts';
import { ItemTable } from '../../aws/table.ts';
import { DynamoInboxStore } from '../../aws/tasks/inbox-store.ts';
import { NotFoundError } from '../../core/errors.ts';
import {
  type AgentSettings,
  agentsEnabledPath,
  parseAgentSettings,
} from '../../core/settings/agent-settings.ts';
import type { AgentSessionStore } from '../../core/tasks/agent-session.ts';
import type { LiveReadStore } from '../../core/tasks/live-read.ts';
import type { InboxStore } from '../../core/tasks/task-inbox.ts';
import { AgentProofs } from '../identity/agent-proof.ts';
import type { SessionTokens } from '../identity/session-token.ts';
import { openAgentSessions } from './agent-sessions.ts';
import { openDocuments } from './aws-clients.ts';
import { openBase } from './base.ts';
import { openLiveReads } from './live-reads.ts';
import { type OperationsServices, openOperations } from './operations.ts';
import type { Services } from './services.ts';
import { openSessionTokens } from './session-tokens.ts';

/** What functions that agents call work with. */
export interface AgentHub extends OperationsServices {
  readonly agentSettings: AgentSettings;
  readonly sessions: AgentSessionStore;
  readonly inboxes: InboxStore;
  readonly reads: LiveReadStore;
  readonly tokens: SessionTokens;
  readonly proofs: AgentProofs;
}

/**
 * Opens what functions that agents call work with.
 *
 * @throws NotFoundError where agents are not served; what `openProviders` throws
 */
export async function openAgentHub(services: Services): Promise<AgentHub> {
  const opened = await openOperations(services);
  const agentSettings = parseAgentSettings(opened.settings);
  const tokens = openSessionTokens(services);
  if (!agentSettings.enabled || tokens === undefined) {
    throw new NotFoundError(`Agents are not served here: ${agentsEnabledPath} is not true`);
  }
  return {
    ...opened,
    agentSettings,
    sessions: openAgentSessions(services),
    inboxes: services.get(createInboxes),
    reads: openLiveReads(services),
    tokens,
    proofs: services.get(createProofs),
  };
}

function createInboxes(services: Services): InboxStore {
  const { clock } = openBase(services);
  return new DynamoInboxStore({ table: openTable(services), clock });
}

function createProofs(services: Services): AgentProofs {
  const { clock, log, config } = openBase(services);
  return new AgentProofs({ clock, log, audience: config.agentAudience ?? proofAudience });
}

function openTable(services: Services): ItemTable {
  const { config } = openBase(services);
  return new ItemTable(openDocuments(services, 'request'), config.tasksTable);
}
