import { InvalidInputError, TooLargeError } from '#core/errors.ts';
import { asJsonObject, asString, isJsonObject, type JsonObject, type JsonValue } from '#core/json.ts';
import type { ProviderContext, ProviderPlugin } from '#provider-kit/provider.ts';
import { getSetting } from '#settings/spring-config.ts';
import { listPlainSecrets } from './definition-secrets.ts';
import {
  type AccountDefinition,
  accountBodyBytesMax,
  findAccountNameProblem,
} from './model/account-store.ts';

/** What definitions are checked against. */
export interface DefinitionRules {
  readonly plugins: readonly ProviderPlugin[];
  /** Whether definitions may hold secrets: `busdriver.accounts.allowPlainSecrets`. */
  readonly arePlainSecretsAllowed: boolean;
  /** What a provider is opened with to check a definition. */
  readonly options: Omit<ProviderContext, 'accounts' | 'credentials'>;
}

/** Providers whose accounts an API may create. */
export function listStoredTypes(plugins: readonly ProviderPlugin[]): readonly string[] {
  return plugins.filter(({ storedAccounts }) => storedAccounts).map(({ name }) => name);
}

/** @throws InvalidInputError for a type whose accounts no API may create. */
function checkAccountType(type: string | undefined, plugins: readonly ProviderPlugin[]): string {
  const types = listStoredTypes(plugins);
  if (type !== undefined && types.includes(type)) return type;
  throw new InvalidInputError(`type: expected one of ${types.join(', ')}`);
}

/**
 * The definition in a request's body, not yet checked by its provider's rules.
 *
 * @throws InvalidInputError for a body without a valid type or name; TooLargeError for one that is too large
 */
export function parseAccountDefinition(
  body: JsonValue,
  plugins: readonly ProviderPlugin[],
): AccountDefinition {
  if (!isJsonObject(body)) throw new InvalidInputError('The body must be an object, the account');
  const bytes = Buffer.byteLength(toText(body));
  if (bytes > accountBodyBytesMax) {
    throw new TooLargeError(
      `The definition of an account has ${bytes} bytes: at most ${accountBodyBytesMax} are accepted`,
    );
  }
  const type = checkAccountType(asString(body['type']), plugins);
  const name = asString(body['name']) ?? '';
  const problem = findAccountNameProblem(name);
  if (problem !== undefined) throw new InvalidInputError(problem);
  return { name, type, body };
}

/**
 * Checks a definition by its provider's rules, which also hold for settings, and by the rule for secrets.
 *
 * @throws InvalidInputError with each violation; none quotes a value
 */
export async function checkAccountDefinition(
  { name, type, body }: AccountDefinition,
  { plugins, arePlainSecretsAllowed, options }: DefinitionRules,
): Promise<void> {
  const plugin = plugins.find((each) => each.name === type);
  if (plugin === undefined) return;
  const secrets = arePlainSecretsAllowed ? [] : listPlainSecrets({ type, body }, plugins);
  if (secrets.length > 0) {
    throw new InvalidInputError(
      secrets.map((path) => `${path}: holds a secret: store it in Secrets Manager and give a reference`),
    );
  }
  const section = asJsonObject(getSetting(options.settings, type)) ?? {};
  const settings = { ...options.settings, [type]: { ...section, accounts: [] } };
  await using opened = plugin.open({
    ...options,
    settings,
    accounts: { stored: [body] },
    credentials: 'withheld',
  });
  const rejected = opened.rejectedAccounts.find((each) => each.name === name);
  if (rejected !== undefined) throw new InvalidInputError(toViolations(rejected.reason, name));
}

/** The violations in a reason, each of which begins with the account's place. */
function toViolations(reason: string, name: string): readonly string[] {
  const at = `stored account "${name}"`;
  return reason.split(`; ${at}`).map((text) => text.replace(at, '').replace(/^(\.|: )/, ''));
}

function toText(body: JsonObject): string {
  return JSON.stringify(body, (_key, value: unknown) => (typeof value === 'bigint' ? String(value) : value));
}
