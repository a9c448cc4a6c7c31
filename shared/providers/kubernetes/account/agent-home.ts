import { InvalidInputError } from '../../../core/errors.ts';
import { asJsonObject, isJsonObject, type JsonObject, type JsonValue } from '../../../core/json.ts';
import type { ProviderOptions } from '../../../core/providers/provider.ts';
import type { Account, AgentHome, AgentKeySource } from '../../../core/settings/account.ts';
import {
  agentsEnabledPath,
  jwksHostsPath,
  parseAgentSettings,
} from '../../../core/settings/agent-settings.ts';
import type { AccountFields } from './account-fields.ts';

/** Keys that an account's agents may sign with, at most. */
export const agentKeysMax = 20;

/**
 * How the agents of an account are known; undefined for an account that is reached from here. `at` is the path of the account.
 *
 * @throws InvalidInputError naming the field that is of no use
 */
export function createAgentHome({ agent }: Pick<AccountFields, 'agent'>, at: string): AgentHome | undefined {
  if (agent === undefined) return undefined;
  const { auth, waitSeconds, minReplicas } = agent;
  const path = `${at}.agent.auth`;
  if (auth.type !== 'serviceAccount') refuse(`${path}.type: expected serviceAccount, the only one there is`);
  for (const name of ['issuer', 'subject'] as const) {
    if (auth[name].trim() === '') refuse(`${path}.${name}: expected a text, got an empty string`);
  }
  const keys = toKeySource({ jwks: auth.jwks, jwksUri: auth.jwksUri || undefined }, path);
  return { issuer: auth.issuer, subject: auth.subject, keys, waitSeconds, minReplicas };
}

/** What is wrong with the fields of an account that has an agent; each begins with the path of the field. */
export function findAgentConflicts(fields: AccountFields): readonly string[] {
  if (fields.agent === undefined) return [];
  const others = ['kubeconfigFile', 'kubeconfigContents', 'kubeconfigSecret', 'eks', 'server'] as const;
  const names = [...others, 'context', 'cluster', 'user', 'serviceAccount'] as const;
  const given = names.filter((name) => fields[name]);
  const conflicts = given.map(
    (name) => `${name}: expected nothing beside agent, which knows itself how it reaches its cluster`,
  );
  const isV1 = fields.providerVersion.trim().toLowerCase() === 'v1';
  return isV1 ? [...conflicts, 'agent: accounts of the V1 provider have none'] : conflicts;
}

/** What is known of the place and the settings of an account. */
interface AgentPlace {
  readonly settings: JsonObject;
  readonly placement?: ProviderOptions['placement'] | undefined;
  readonly servesAgents?: boolean | undefined;
}

/**
 * The account with what the settings say where it says nothing of its agents itself; one without agents as it is.
 *
 * @param at where the account stands
 * @throws InvalidInputError where agents are not served, or where their keys would come from a host that is not allowed
 */
export function settleAgentHome<A extends Pick<Account, 'agentHome'>>(
  account: A,
  at: string,
  { settings, placement, servesAgents = placement !== 'deployed' }: AgentPlace,
): A {
  const { agentHome } = account;
  if (agentHome === undefined) return account;
  if (!servesAgents) refuse(`${at}.agent: agents are served by stacks that were deployed with agents=true`);
  const { enabled, jwksHosts, waitSeconds } = parseAgentSettings(settings);
  if (!enabled) refuse(`${at}.agent: agents are served where ${agentsEnabledPath} is true`);
  const { url } = agentHome.keys;
  if (url !== undefined && !jwksHosts.includes(url.host))
    refuse(`${at}.agent.auth.jwksUri: expected a host that ${jwksHostsPath} names, not ${url.host}`);
  return { ...account, agentHome: { ...agentHome, waitSeconds: agentHome.waitSeconds ?? waitSeconds } };
}

function toKeySource(
  { jwks, jwksUri }: { jwks: JsonValue | undefined; jwksUri: string | undefined },
  path: string,
): AgentKeySource {
  if ((jwks === undefined) === (jwksUri === undefined)) {
    return refuse(`${path}: expected one of jwks and jwksUri, by which tokens are verified`);
  }
  return jwksUri === undefined
    ? { keys: readKeys(jwks, `${path}.jwks`) }
    : { url: readUrl(jwksUri, `${path}.jwksUri`) };
}

function readUrl(text: string, path: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isPlain = url?.protocol === 'https:' && url.username === '' && url.password === '';
  return isPlain ? url : refuse(`${path}: expected a URL that begins with https:// and names no user`);
}

/** A set of keys as `/openid/v1/jwks` of a cluster answers it, or the text of that. */
function readKeys(given: JsonValue | undefined, path: string): readonly JsonObject[] {
  const set = asJsonObject(typeof given === 'string' ? parseText(given, path) : given);
  const keys = set?.['keys'];
  if (!Array.isArray(keys) || keys.length === 0 || !keys.every(isJsonObject)) {
    return refuse(
      `${path}: expected an object with a list of public keys in 'keys', as kubectl get --raw /openid/v1/jwks prints it`,
    );
  }
  if (keys.length > agentKeysMax) refuse(`${path}: expected ${agentKeysMax} keys at most`);
  if (keys.some((key) => 'd' in key || 'k' in key)) refuse(`${path}: expected public keys, got a secret one`);
  return keys;
}

function parseText(text: string, path: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return refuse(`${path}: expected an object, or the JSON text of one`);
  }
}

function refuse(sentence: string): never {
  throw new InvalidInputError(sentence);
}
