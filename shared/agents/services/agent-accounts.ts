import { type AccountServices, openAccounts } from '#accounts/management/accounts.ts';
import type { AccountStore } from '#accounts/model/account-store.ts';
import { openAccountStore } from '#accounts/services/account-store.ts';
import type { Services } from '#platform/services/services.ts';
import { openProviders, type ProviderServices } from '#provider-kit/services/providers.ts';
import { isAccountStorageEnabled } from '#settings/account-storage.ts';
import { openReads, type ReadServices } from '#views/services/views.ts';
import type { Hints } from '../agent-connections.ts';
import type { AgentEnrolmentStore } from '../agent-enrolment.ts';
import type { AgentSessionStore } from '../agent-session.ts';
import { openAgentSessions } from '../sessions/agent-sessions.ts';
import { openHints } from '../sessions/hints.ts';
import { openAgentEnrolments } from './agent-enrolments.ts';
import { getServedAgents } from './served-agents.ts';

/** Enrolments of the agents of accounts, beside definitions. */
interface AgentStores {
  readonly sessions: AgentSessionStore;
  readonly enrolments: AgentEnrolmentStore;
  readonly hints: Hints;
}

/** Dependencies of functions that show accounts of agents, or let agents in. */
export interface AgentAccountServices extends ProviderServices, AgentStores {
  /** Undefined where no accounts are stored: the settings have all. */
  readonly accounts: AccountStore | undefined;
}

/** Dependencies of functions that make and delete accounts of agents. */
export interface DynamicAccountServices extends AccountServices, AgentStores {}

/** Opens what showing accounts of agents needs. @throws NotFoundError where agents are not served; what `openProviders` throws */
export async function openAgentAccounts(services: Services): Promise<AgentAccountServices> {
  const opened = await openProviders(services);
  getServedAgents(opened.settings);
  const isStored = isAccountStorageEnabled(opened.settings, opened.config.placement);
  const accounts = isStored ? openAccountStore(services) : undefined;
  return { ...opened, ...openStores(services), accounts };
}

/** The same, and the cache. @throws what `openAgentAccounts` throws */
export async function openAgentAccountReads(
  services: Services,
): Promise<AgentAccountServices & ReadServices> {
  return { ...(await openReads(services)), ...(await openAgentAccounts(services)) };
}

/** Opens what changing accounts of agents needs. @throws NotFoundError where agents are not served; what `openAccounts` throws */
export async function openDynamicAccounts(services: Services): Promise<DynamicAccountServices> {
  const opened = await openAccounts(services);
  getServedAgents(opened.settings);
  return { ...opened, ...openStores(services) };
}

function openStores(services: Services): AgentStores {
  return {
    sessions: openAgentSessions(services),
    enrolments: openAgentEnrolments(services),
    hints: openHints(services),
  };
}
