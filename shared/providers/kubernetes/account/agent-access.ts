import type { Account, AgentAccess } from '#accounts/model/account.ts';
import type { JsonObject } from '#core/json.ts';
import type { ProviderContext } from '#provider-kit/provider.ts';
import { agentsEnabledPath, jwksHostsPath, parseAgentSettings } from '#settings/agent-settings.ts';
import { type AccountFields, parseAccountFields } from './account-fields.ts';
import { createAgentAuth, refuse } from './agent-auth.ts';

/**
 * How an account's agents are recognized; undefined for an account that this process reaches itself. `at` is the path of the account.
 *
 * @throws InvalidInputError naming the invalid field
 */
export function createAgentAccess(
  { agent }: Pick<AccountFields, 'agent'>,
  at: string,
): AgentAccess | undefined {
  if (agent === undefined) return undefined;
  const { auth, waitSeconds, minReplicas } = agent;
  return { auth: createAgentAuth(auth, `${at}.agent.auth`), waitSeconds, minReplicas };
}

/** Options that say how to reach a cluster: an account with an agent has none of them. */
const reachOptions = [
  ...(['kubeconfigFile', 'kubeconfigContents', 'kubeconfigSecret', 'eks', 'server'] as const),
  ...(['context', 'cluster', 'user', 'serviceAccount'] as const),
] as const;

/** How agents serve accounts. */
export const agents = {
  reachOptions,
  // Options that Armory's plug-in sends to agents. The agent's own file says how to connect.
  credentialOptions: ['kubeconfigFile', 'kubeconfigContents', 'kubeconfigAgent', 'serviceAccount'],
  readAuth: (definition: JsonObject) => createAgentAccess(parseAccountFields(definition, ''), '')?.auth,
};

/** What is wrong with the fields of an account that has an agent; each begins with the path of the field. */
export function findAgentConflicts(fields: AccountFields): readonly string[] {
  if (fields.agent === undefined) return [];
  const given = reachOptions.filter((name) => fields[name]);
  const conflicts = given.map(
    (name) => `${name}: expected nothing beside agent, which knows itself how it reaches its cluster`,
  );
  const isV1 = fields.providerVersion.trim().toLowerCase() === 'v1';
  return isV1 ? [...conflicts, 'agent: accounts of the V1 provider have none'] : conflicts;
}

/** What is known of an account's location and settings. */
interface AgentPlace {
  readonly settings: JsonObject;
  readonly placement?: ProviderContext['placement'] | undefined;
  readonly servesAgents?: boolean | undefined;
}

/**
 * Fills in from the settings what the account itself does not say of its agents. An account without agents is returned unchanged.
 *
 * @param at path of the account
 * @throws InvalidInputError where agents are not served, or where their keys would come from a host that is not allowed
 */
export function settleAgentAccess<A extends Pick<Account, 'agentHome'>>(
  account: A,
  at: string,
  { settings, placement, servesAgents = placement !== 'deployed' }: AgentPlace,
): A {
  const { agentHome } = account;
  if (agentHome === undefined) return account;
  if (!servesAgents) refuse(`${at}.agent: agents are served by stacks that were deployed with agents=true`);
  const { enabled, jwksHosts, waitSeconds } = parseAgentSettings(settings);
  if (!enabled) refuse(`${at}.agent: agents are served where ${agentsEnabledPath} is true`);
  const { auth } = agentHome;
  const url = auth.type === 'serviceAccount' ? auth.keys.url : undefined;
  if (url !== undefined && !jwksHosts.includes(url.host))
    refuse(`${at}.agent.auth.jwksUri: expected a host that ${jwksHostsPath} names, not ${url.host}`);
  return { ...account, agentHome: { ...agentHome, waitSeconds: agentHome.waitSeconds ?? waitSeconds } };
}
