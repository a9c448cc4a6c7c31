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
import { SessionTokens } from '../identity/session-token.ts';
import { openAgentSessions } from './agent-sessions.ts';
import { openDocuments } from './aws-clients.ts';
import { openBase } from './base.ts';
import { openLiveReads } from './live-reads.ts';
import { type OperationsServices, openOperations } from './operations.ts';
import type { Services } from './services.ts';

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
  const { agentKeyFile } = opened.config;
  if (!agentSettings.enabled || agentKeyFile === undefined) {
    throw new NotFoundError(`Agents are not served here: ${agentsEnabledPath} is not true`);
  }
  return {
    ...opened,
    agentSettings,
    sessions: openAgentSessions(services),
    inboxes: services.get(createInboxes),
    reads: openLiveReads(services),
    tokens: services.get(createTokens, agentKeyFile),
    proofs: services.get(createProofs),
  };
}

function createInboxes(services: Services): InboxStore {
  const { clock } = openBase(services);
  return new DynamoInboxStore({ table: openTable(services), clock });
}

function createTokens(services: Services, keyFile: string): SessionTokens {
  const { clock, randomness } = openBase(services);
  return new SessionTokens({ clock, randomness, keyFile });
}

function createProofs(services: Services): AgentProofs {
  const { clock, log } = openBase(services);
  return new AgentProofs({ clock, log });
}

function openTable(services: Services): ItemTable {
  const { config } = openBase(services);
  return new ItemTable(openDocuments(services, 'request'), config.tasksTable);
}
