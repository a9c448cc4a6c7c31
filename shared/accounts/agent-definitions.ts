import { InvalidInputError } from '#core/errors.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '#core/json.ts';
import type { ProviderPlugin } from '#provider-kit/provider.ts';
import { findMember, getSetting, toCanonicalKey } from '#settings/spring-config.ts';
import { parseAccountDefinition } from './account-definitions.ts';
import type { AccountDefinition } from './model/account-store.ts';

/** The option that says that agents serve an account: whose proof of identity it accepts, and how many there should be. */
const agentOption = 'agent';

/** Members beside an account in the bodies of Armory's plug-in, which are no part of its definition. */
const bodyOptions = ['zoneId', 'state'];

/** Whether agents serve the account of a definition. */
export function hasAgent({ body }: Pick<AccountDefinition, 'body'>): boolean {
  return isJsonObject(getSetting(body, agentOption));
}

/** @throws InvalidInputError naming each option that would give an agent credentials */
export function checkNoCredentials(body: JsonObject, plugins: readonly ProviderPlugin[]): void {
  const options = plugins.flatMap(({ agents }) => agents?.credentialOptions ?? []);
  const given = options.filter((name) => isGiven(findMember(body, name)));
  if (given.length === 0) return;
  throw new InvalidInputError(
    given.map((name) => `${name}: expected nothing: the file of the agent says how it reaches the cluster`),
  );
}

function isGiven(value: JsonValue | undefined): boolean {
  return value !== undefined && value !== null && value !== '' && value !== false;
}

/**
 * The definition of an account that agents serve, in the form of Armory's plug-in: without a type it is of the provider that has agents.
 *
 * @param before the account that it replaces: its agents stay where the body has none. Default: there is none
 * @throws InvalidInputError for an invalid body, and for one that gives agents credentials; TooLargeError
 */
export function parseAgentDefinition(
  body: JsonObject,
  plugins: readonly ProviderPlugin[],
  before?: Pick<AccountDefinition, 'body'>,
): AccountDefinition {
  checkNoCredentials(body, plugins);
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
 * The definition of an account that agents serve from now on, and Busdriver reached itself: the options for that are left out.
 *
 * @param agent what it says of its agents; undefined where nothing was given
 * @throws InvalidInputError without that, and where no account of its type has agents
 */
export function toAgentDefinition(
  { name, type, body }: AccountDefinition,
  agent: JsonObject | undefined,
  plugins: readonly ProviderPlugin[],
): AccountDefinition {
  const reachOptions = plugins.find((each) => each.name === type)?.agents?.reachOptions;
  if (reachOptions === undefined) {
    throw new InvalidInputError(`name: expected an account of ${listAgentTypes(plugins).join(', ')}`);
  }
  if (agent === undefined) throw new InvalidInputError(agentMissing);
  return { name, type, body: { ...omit(body, [...reachOptions, agentOption]), [agentOption]: agent } };
}

const agentMissing = 'agent: expected an object, which says whose proof the account takes';

function listAgentTypes(plugins: readonly ProviderPlugin[]): readonly string[] {
  return plugins.filter(({ agents }) => agents !== undefined).map(({ name }) => name);
}

/** The object without these members, in any spelling of their names. */
function omit(object: JsonObject, names: readonly string[]): JsonObject {
  const left = new Set(names.map(toCanonicalKey));
  return Object.fromEntries(Object.entries(object).filter(([key]) => !left.has(toCanonicalKey(key))));
}
