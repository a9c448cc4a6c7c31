import { InvalidInputError } from '#core/errors.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '#core/json.ts';
import type { ProviderPlugin } from '#provider-kit/provider.ts';
import { findMember, getSetting, toCanonicalKey } from '#settings/spring-config.ts';
import { parseAccountDefinition } from './account-definitions.ts';
import type { AccountDefinition } from './model/account-store.ts';

/** What the definition of an account says that agents serve: whose proof it takes, and how many there should be. */
const agentOption = 'agent';

/** What Armory's plug-in hands to agents. Busdriver sends them no credentials: the agent's own file says how it reaches the cluster. */
const agentSideOptions = ['kubeconfigFile', 'kubeconfigContents', 'kubeconfigAgent', 'serviceAccount'];

/** What stands beside an account in the bodies of Armory's plug-in, and is no part of its definition. */
const bodyOptions = ['zoneId', 'state'];

/** Whether agents serve the account of a definition. */
export function hasAgent({ body }: Pick<AccountDefinition, 'body'>): boolean {
  return isJsonObject(getSetting(body, agentOption));
}

/** @throws InvalidInputError naming each option by which somebody would give an agent credentials */
export function checkNoCredentials(body: JsonObject): void {
  const given = agentSideOptions.filter((name) => isGiven(findMember(body, name)));
  if (given.length === 0) return;
  throw new InvalidInputError(
    given.map((name) => `${name}: expected nothing: the file of the agent says how it reaches the cluster`),
  );
}

function isGiven(value: JsonValue | undefined): boolean {
  return value !== undefined && value !== null && value !== '' && value !== false;
}

/**
 * The definition of an account that agents serve, which an operator gives as to Armory's plug-in: without a type it is of the provider that
 * has agents.
 *
 * @param before the account that it replaces: where the body says nothing of its agents, they stay. Default: there is none
 * @throws InvalidInputError for a body of no use, and for one that gives agents credentials; TooLargeError
 */
export function parseAgentDefinition(
  body: JsonObject,
  plugins: readonly ProviderPlugin[],
  before?: Pick<AccountDefinition, 'body'>,
): AccountDefinition {
  checkNoCredentials(body);
  const [type = ''] = listAgentTypes(plugins);
  const agent = getSetting(body, agentOption) ?? (before && getSetting(before.body, agentOption));
  const definition = parseAccountDefinition(
    { type, ...omit(body, [...bodyOptions, agentOption]), ...(agent && { [agentOption]: agent }) },
    plugins,
  );
  if (!listAgentTypes(plugins).includes(definition.type)) {
    throw new InvalidInputError(`type: expected one of ${listAgentTypes(plugins).join(', ')}`);
  }
  if (!hasAgent(definition)) throw new InvalidInputError(agentMissing);
  return definition;
}

/**
 * The definition of an account that agents are to serve from now on, which was reached from here so far: how that was done is left out.
 *
 * @param agent what it says of its agents; undefined where nobody said it
 * @throws InvalidInputError without that, and where no account of its type has agents
 */
export function toAgentDefinition(
  { name, type, body }: AccountDefinition,
  agent: JsonObject | undefined,
  plugins: readonly ProviderPlugin[],
): AccountDefinition {
  const reachOptions = plugins.find((each) => each.name === type)?.reachOptions;
  if (reachOptions === undefined) {
    throw new InvalidInputError(`name: expected an account of ${listAgentTypes(plugins).join(', ')}`);
  }
  if (agent === undefined) throw new InvalidInputError(agentMissing);
  return { name, type, body: { ...omit(body, [...reachOptions, agentOption]), [agentOption]: agent } };
}

const agentMissing = 'agent: expected an object, which says whose proof the account takes';

function listAgentTypes(plugins: readonly ProviderPlugin[]): readonly string[] {
  return plugins.filter(({ reachOptions }) => reachOptions !== undefined).map(({ name }) => name);
}

/** The object without members, however their names are written. */
function omit(object: JsonObject, names: readonly string[]): JsonObject {
  const left = new Set(names.map(toCanonicalKey));
  return Object.fromEntries(Object.entries(object).filter(([key]) => !left.has(toCanonicalKey(key))));
}
