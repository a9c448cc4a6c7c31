import { isJsonObject, type JsonValue } from '../../../core/json.ts';
import { describeUnknownKey, keyLengthMax } from '../../../core/settings/nearest-key.ts';
import { accessKeys, findMisspeltKeys } from '../../../core/settings/permissions.ts';
import { joinPath, toCanonicalKey } from '../../../core/settings/spring-config.ts';
import { accountOptions, nestedOptions } from './account-fields.ts';

/** Unknown keys of one account that are told; of further ones only how many there are. */
export const unknownKeysToldMax = 20;

/**
 * Keys that Clouddriver, Halyard or the Operator know and that change nothing here, be it that they never did: files of years
 * have them, and nobody shall be told to mend these.
 */
const ignoredKeys: readonly string[] = ['kubectlExecutable', 'liveManifestCalls', 'oAuthScopes', 'type'];

/**
 * What to tell of the keys in an entry of `kubernetes.accounts` that nobody knows, of options within options too: a misspelt
 * `namespaces` leaves an account open to all of them.
 *
 * @param at path of the entry
 * @returns sentences, each of which begins with the path of a key
 */
export function describeUnknownKeys(entry: JsonValue, at: string): readonly string[] {
  const known = [...accountOptions, ...accessKeys];
  // An account that has one of these is left out for it.
  const refused = isJsonObject(entry) ? findMisspeltKeys(entry) : [];
  const found = [
    ...describeKeys(entry, { at, known, ignored: [...ignoredKeys, ...refused] }),
    ...Object.entries(nestedOptions).flatMap(([option, names]) =>
      listMembers(entry, option, at).flatMap((member) =>
        describeKeys(member.value, { at: member.at, known: names, ignored: [] }),
      ),
    ),
  ];
  if (found.length <= unknownKeysToldMax) return found;
  return [
    ...found.slice(0, unknownKeysToldMax),
    `${at}: ${found.length - unknownKeysToldMax} more keys are unknown`,
  ];
}

interface KeyRules {
  readonly at: string;
  readonly known: readonly string[];
  readonly ignored: readonly string[];
}

function describeKeys(value: JsonValue, { at, known, ignored }: KeyRules): string[] {
  if (!isJsonObject(value)) return [];
  const expected = new Set([...known, ...ignored].map(toCanonicalKey));
  const unknown = Object.keys(value).filter((key) => !expected.has(toCanonicalKey(key)));
  return unknown.map((key) => describeUnknownKey(joinPath(at, key.slice(0, keyLengthMax)), key, known));
}

/** The objects that an option holds: one, or those of a list. */
function listMembers(
  entry: JsonValue,
  option: string,
  at: string,
): readonly { readonly value: JsonValue; readonly at: string }[] {
  if (!isJsonObject(entry)) return [];
  const key = Object.keys(entry).findLast((each) => toCanonicalKey(each) === toCanonicalKey(option));
  const value = key === undefined ? undefined : entry[key];
  if (key === undefined || value === undefined) return [];
  const path = joinPath(at, key);
  return Array.isArray(value)
    ? value.map((item, index) => ({ value: item, at: joinPath(path, index) }))
    : [{ value, at: path }];
}
