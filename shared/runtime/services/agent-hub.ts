import { proofAudience } from '../../agent-protocol/messages.ts';
import { NotFoundError } from '../../core/errors.ts';
import {
  type AgentSettings,
  agentsEnabledPath,
  parseAgentSettings,
} from '../../core/settings/agent-settings.ts';
import type { AgentEnrolmentStore } from '../../core/tasks/agent-enrolment.ts';
import type { AgentSessionStore } from '../../core/tasks/agent-session.ts';
import type { LiveReadStore } from '../../core/tasks/live-read.ts';
import type { InboxStore } from '../../core/tasks/task-inbox.ts';
import { AgentProofs } from '../identity/agent-proof.ts';
import type { SessionTokens } from '../identity/session-token.ts';
import { openAgentEnrolments } from './agent-enrolments.ts';
import { openInboxes } from './agent-inboxes.ts';
import { openAgentSessions } from './agent-sessions.ts';
import { type AwaitedAnswers, openAwaitedAnswers } from './awaited-answers.ts';
import { openBase } from './base.ts';
import { openLiveReads } from './live-reads.ts';
import { type OperationsServices, openOperations } from './operations.ts';
import type { Services } from './services.ts';
import { openSessionTokens } from './session-tokens.ts';

/** What functions that agents call work with. */
export interface AgentHub extends OperationsServices {
  readonly agentSettings: AgentSettings;
  readonly sessions: AgentSessionStore;
  readonly enrolments: AgentEnrolmentStore;
  readonly inboxes: InboxStore;
  readonly reads: LiveReadStore;
  /** Who waits in this process for answers of reads. */
  readonly awaited: AwaitedAnswers;
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
    enrolments: openAgentEnrolments(services),
    inboxes: openInboxes(services),
    reads: openLiveReads(services),
    awaited: openAwaitedAnswers(services),
    tokens,
    proofs: services.get(createProofs),
  };
}

function createProofs(services: Services): AgentProofs {
  const { clock, log, config } = openBase(services);
  return new AgentProofs({ clock, log, audience: config.agentAudience ?? proofAudience });
}
