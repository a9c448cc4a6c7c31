import { isJsonObject, type JsonObject, type JsonValue } from '#core/json.ts';
import type { AccountOptions } from '#provider-kit/stored-accounts.ts';
import { describeUnknownKey, keyLengthMax } from '#settings/nearest-key.ts';
import { joinPath, toCanonicalKey } from '#settings/spring-config.ts';
import { accessKeys, findMisspeltKeys } from './permissions.ts';

/** Unknown keys of one account that are reported; further ones are only counted. */
export const unknownKeysToldMax = 20;

/** A definition without members that are no options. */
export interface KeptOptions {
  readonly kept: JsonObject;
  /** A sentence for each dropped member. */
  readonly dropped: readonly string[];
}

/** Where an entry is, and what it may have. */
interface EntryRules {
  readonly at: string;
  readonly options: AccountOptions;
}

/**
 * Describes the unknown keys of an account and of its nested options: a misspelt `namespaces` opens an account to all namespaces.
 *
 * @param rules `at` is the path of the entry
 * @returns sentences, each of which begins with the path of a key
 */
export function describeUnknownKeys(entry: JsonValue, { at, options }: EntryRules): readonly string[] {
  const { nested = {}, ignored = [] } = options;
  const known = [...options.known, ...accessKeys];
  // An account with one of these is rejected because of it.
  const refused = isJsonObject(entry) ? findMisspeltKeys(entry) : [];
  const found = [
    ...describeKeys(entry, { at, known, ignored: [...ignored, ...refused] }),
    ...Object.entries(nested).flatMap(([option, names]) =>
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

/** Takes out of a definition, and of the options within its options, what {@link describeUnknownKeys} reports. */
export function keepOptions(definition: JsonObject, options: AccountOptions): KeptOptions {
  const { known, nested = {}, ignored = [] } = options;
  // Keys that look like permissions are refused.
  const top = toKeySet([...known, ...accessKeys, ...ignored, ...findMisspeltKeys(definition)]);
  const below = new Map(
    Object.entries(nested).map(([option, names]) => [toCanonicalKey(option), toKeySet(names)]),
  );
  const kept = Object.entries(keepKeys(definition, top)).map(([key, value]) => {
    const names = below.get(toCanonicalKey(key));
    return [key, names === undefined ? value : keepMembers(value, names)];
  });
  return { kept: Object.fromEntries(kept), dropped: describeUnknownKeys(definition, { at: '', options }) };
}

/** The same for an option's value: an object, or a list of objects. */
function keepMembers(value: JsonValue, names: ReadonlySet<string>): JsonValue {
  if (Array.isArray(value)) return value.map((item) => (isJsonObject(item) ? keepKeys(item, names) : item));
  return isJsonObject(value) ? keepKeys(value, names) : value;
}

function keepKeys(object: JsonObject, names: ReadonlySet<string>): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([key]) => names.has(toCanonicalKey(key))));
}

function toKeySet(names: readonly string[]): ReadonlySet<string> {
  return new Set(names.map(toCanonicalKey));
}

interface KeyRules {
  readonly at: string;
  readonly known: readonly string[];
  readonly ignored: readonly string[];
}

function describeKeys(value: JsonValue, { at, known, ignored }: KeyRules): string[] {
  if (!isJsonObject(value)) return [];
  const expected = toKeySet([...known, ...ignored]);
  const unknown = Object.keys(value).filter((key) => !expected.has(toCanonicalKey(key)));
  return unknown.map((key) => describeUnknownKey(joinPath(at, key.slice(0, keyLengthMax)), key, known));
}

/** The objects in an option's value: one, or those of a list. */
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
