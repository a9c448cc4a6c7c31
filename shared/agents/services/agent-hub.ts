import { NotFoundError } from '#core/errors.ts';
import { openBase } from '#platform/services/base.ts';
import type { Services } from '#platform/services/services.ts';
import { type AgentSettings, agentsEnabledPath, parseAgentSettings } from '#settings/agent-settings.ts';
import { type OperationsServices, openOperations } from '#tasks/services/operations.ts';
import type { InboxStore } from '#tasks/task-inbox.ts';
import type { AgentEnrolmentStore } from '../agent-enrolment.ts';
import type { AgentSessionStore } from '../agent-session.ts';
import { AgentProofs } from '../identity/agent-proof.ts';
import type { SessionTokens } from '../identity/session-token.ts';
import type { LiveReadStore } from '../live-read.ts';
import { proofAudience } from '../protocol/messages.ts';
import { openAgentSessions } from '../sessions/agent-sessions.ts';
import { openAgentEnrolments } from './agent-enrolments.ts';
import { openInboxes } from './agent-inboxes.ts';
import { type AwaitedAnswers, openAwaitedAnswers } from './awaited-answers.ts';
import { openLiveReads } from './live-reads.ts';
import { openSessionTokens } from './session-tokens.ts';

/** Dependencies of the functions that agents call. */
export interface AgentHub extends OperationsServices {
  readonly agentSettings: AgentSettings;
  readonly sessions: AgentSessionStore;
  readonly enrolments: AgentEnrolmentStore;
  readonly inboxes: InboxStore;
  readonly reads: LiveReadStore;
  /** The callers in this process that wait for answers of reads. */
  readonly awaited: AwaitedAnswers;
  readonly tokens: SessionTokens;
  readonly proofs: AgentProofs;
}

/** Opens what functions that agents call work with. @throws NotFoundError where agents are not served; what `openProviders` throws */
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
