import { InvalidInputError } from '#core/errors.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '#core/json.ts';
import type { ProviderPlugin } from '#provider-kit/provider.ts';
import type { StoredAccounts } from '#provider-kit/stored-accounts.ts';
import {
  isInlineSecret,
  isSecretReference,
  parseSecretReference,
  type SecretReference,
} from '#settings/secret-reference.ts';
import { findMember, getSetting, joinPath, toCanonicalKey } from '#settings/spring-config.ts';
import type { AccountDefinition } from './model/account-store.ts';

/** Replaces a secret in an answer. */
export const secretMask = '******';

/** A secret that a definition refers to. */
export interface ReferredSecret {
  /** Path of the option. */
  readonly path: string;
  /** The reference as written. It holds no secret. */
  readonly text: string;
  readonly reference: SecretReference;
}

/** Paths of the options that hold a secret itself, be it in the form of a reference. */
export function listPlainSecrets(
  { type, body }: Pick<AccountDefinition, 'type' | 'body'>,
  plugins: readonly ProviderPlugin[],
): readonly string[] {
  const rules = findRules(type, plugins);
  const plain = (rules?.secrets ?? []).filter((path) => {
    const value = getSetting(body, path);
    if (value === undefined || value === null || value === '') return false;
    // A password of digits alone may be a number.
    return (
      typeof value !== 'string' || !(isSecretReference(value) || rules?.holdsSecret?.(path, value) === false)
    );
  });
  const inline = listTexts(body).filter(({ text }) => isInlineSecret(text));
  return [...new Set([...plain, ...inline.map(({ path }) => path)])];
}

/** The secrets that a definition refers to, not those it holds. @throws InvalidInputError naming an option with an invalid reference */
export function listReferredSecrets(
  { type, body }: AccountDefinition,
  plugins: readonly ProviderPlugin[],
): readonly ReferredSecret[] {
  const named = (findRules(type, plugins)?.secretNames ?? []).flatMap((path) => {
    const text = getSetting(body, path);
    return typeof text === 'string' && text.trim() !== '' && !isSecretReference(text) ? [{ path, text }] : [];
  });
  const written = listTexts(body).filter(({ text }) => isSecretReference(text) && !isInlineSecret(text));
  return [...named, ...written].map(({ path, text }) => ({
    path,
    text,
    reference: parseSecretReference(text, path),
  }));
}

/** The definition as it is shown: with a mask in place of each secret. References to secrets are shown. */
export function maskDefinition(
  { type, body }: AccountDefinition,
  plugins: readonly ProviderPlugin[],
): JsonObject {
  const shown = listSecretPaths(type, plugins).reduce(
    (masked, path) => replaceSecret(masked, path, () => secretMask),
    body,
  );
  return replaceTexts(shown, (text) => (isInlineSecret(text) ? secretMask : text));
}

/**
 * The definition with the secrets of the former one in place of their masks. They may only go where they went: a caller who may change an
 * account need not know its secrets, and could have them sent to a server of their own.
 *
 * @throws InvalidInputError for a mask without a secret, and where masks stay and an option that says where secrets are sent changes
 */
export function unmaskDefinition(
  definition: AccountDefinition,
  former: JsonObject | undefined,
  plugins: readonly ProviderPlugin[],
): AccountDefinition {
  const body = listSecretPaths(definition.type, plugins).reduce(
    (filled, path) =>
      replaceSecret(filled, path, (value) => {
        const kept = value === secretMask ? former && getSetting(former, path) : value;
        return kept ?? value;
      }),
    definition.body,
  );
  const inline = new Map(
    listTexts(former ?? {})
      .filter(({ text }) => isInlineSecret(text))
      .map(({ path, text }) => [path, text]),
  );
  const filled = replaceTexts(body, (text, path) =>
    text === secretMask ? (inline.get(path) ?? text) : text,
  );
  const unknown = listTexts(filled).find(({ text }) => text === secretMask);
  if (unknown !== undefined) {
    throw new InvalidInputError(`${unknown.path}: expected a value, got the mask of one that is not stored`);
  }
  const masked = listTexts(definition.body).find(({ text }) => text === secretMask);
  const destinations = findRules(definition.type, plugins)?.secretDestinations ?? [];
  const moved = destinations.find((path) => getSetting(filled, path) !== getSetting(former ?? {}, path));
  if (masked === undefined || moved === undefined) return { ...definition, body: filled };
  throw new InvalidInputError(
    `${masked.path}: expected the value, for ${moved} is another: a mask keeps a secret where it was sent to`,
  );
}

function listSecretPaths(type: string, plugins: readonly ProviderPlugin[]): readonly string[] {
  return findRules(type, plugins)?.secrets ?? [];
}

function findRules(type: string, plugins: readonly ProviderPlugin[]): StoredAccounts | undefined {
  return plugins.find(({ name }) => name === type)?.storedAccounts;
}

/** The object with another value at a dotted path, if there is one that is no reference. Keys may have any spelling. */
function replaceSecret(
  object: JsonObject,
  path: string,
  replace: (value: JsonValue) => JsonValue,
): JsonObject {
  const [head = '', ...rest] = path.split('.');
  const value = findMember(object, head);
  if (value === undefined || value === null) return object;
  const change = (member: JsonValue): JsonValue => {
    if (rest.length > 0)
      return isJsonObject(member) ? replaceSecret(member, rest.join('.'), replace) : member;
    if (member === null || (typeof member === 'string' && isHarmless(member))) return member;
    return replace(member);
  };
  return Object.fromEntries(
    Object.entries(object).map(([key, member]) => [
      key,
      toCanonicalKey(key) === toCanonicalKey(head) ? change(member) : member,
    ]),
  );
}

function isHarmless(text: string): boolean {
  return text === '' || isSecretReference(text);
}

/** A text of a definition, and its path. */
interface PlacedText {
  readonly path: string;
  readonly text: string;
}

/** Every text of a definition. Bodies of requests are bounded in depth and size. */
function listTexts(value: JsonValue, path = ''): readonly PlacedText[] {
  if (typeof value === 'string') return [{ path, text: value }];
  if (Array.isArray(value)) return value.flatMap((item, index) => listTexts(item, joinPath(path, index)));
  if (!isJsonObject(value)) return [];
  return Object.entries(value).flatMap(([key, member]) => listTexts(member, joinPath(path, key)));
}

function replaceTexts(object: JsonObject, replace: (text: string, path: string) => string): JsonObject {
  const change = (value: JsonValue, path: string): JsonValue => {
    if (typeof value === 'string') return replace(value, path);
    if (Array.isArray(value)) return value.map((item, index) => change(item, joinPath(path, index)));
    return isJsonObject(value) ? changeMembers(value, path) : value;
  };
  const changeMembers = (members: JsonObject, path: string): JsonObject =>
    Object.fromEntries(
      Object.entries(members).map(([key, member]) => [key, change(member, joinPath(path, key))]),
    );
  return changeMembers(object, '');
}
