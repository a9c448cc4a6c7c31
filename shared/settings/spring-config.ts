import { InvalidInputError } from '#core/errors.ts';
import { asString, isJsonObject, type JsonObject, type JsonValue } from '#core/json.ts';
import { resolvePlaceholders, type Variables } from './spring-placeholders.ts';
import { matchesProfiles } from './spring-profiles.ts';

/** Documents of a Spring configuration, and what decides their meaning. */
export interface BindOptions {
  /** In order: a later document wins over an earlier one. */
  readonly documents: readonly JsonObject[];
  /** Active profiles. */
  readonly profiles: readonly string[];
  /** Environment variables, the first place where placeholders are looked up. */
  readonly environment: Variables;
}

/**
 * One configuration from many documents, as Spring Boot makes it: documents for other profiles are left out, dotted
 * keys are nested, maps merge, lists are replaced, placeholders are filled in.
 *
 * @throws InvalidInputError for lists with missing indexes, bad profile expressions and placeholders in a circle.
 */
export function bindDocuments({ documents, profiles, environment }: BindOptions): JsonObject {
  const nested = documents.map(expandKeys);
  const merged = mergeDocuments(nested.filter((document) => isActiveDocument(document, profiles)));
  return resolvePlaceholders(merged, environment, (path) => getSetting(merged, path));
}

/**
 * Merges nested documents, later ones winning. Maps merge member by member whatever the spelling of their keys;
 * lists and scalars are replaced. An absent value (`kubernetes:` with nothing below) does not take a map away.
 */
export function mergeDocuments(documents: readonly JsonObject[]): JsonObject {
  return documents.reduce((merged, document) => mergeMaps(merged, document, mergeValues), {});
}

/** Whether a nested document is for these profiles; one that names none is for all. */
export function isActiveDocument(document: JsonObject, profiles: readonly string[]): boolean {
  const onProfile = getSetting(document, 'spring.config.activate.on-profile');
  const legacy = getSetting(document, 'spring.profiles');
  return [onProfile, legacy].every((condition) => {
    const expressions = listTexts(condition);
    return expressions === undefined || matchesProfiles(expressions, profiles);
  });
}

/**
 * The document with dotted keys nested: `{'kubernetes.accounts[0].name': 'a'}` is `{kubernetes: {accounts: [{name: 'a'}]}}`. A key in
 * brackets is used literally: `[a.b]`.
 *
 * @throws InvalidInputError when a list's indexes are not consecutive from 0.
 */
export function expandKeys(document: JsonObject): JsonObject {
  const expanded = expandMap(document);
  assertDense(expanded, '');
  return expanded;
}

/** The value at a dotted path (`kubernetes.accounts[0].name`), keys matched as Spring matches them. */
export function getSetting(root: JsonObject, path: string): JsonValue | undefined {
  let current: JsonValue | undefined = root;
  for (const segment of splitPath(path)) {
    if (typeof segment === 'number') current = Array.isArray(current) ? current[segment] : undefined;
    else current = isJsonObject(current) ? findMember(current, segment) : undefined;
  }
  return current;
}

/** The member whose key means the same as `key`: `apply-app-labels`, `applyAppLabels` and `APPLY_APP_LABELS` do. */
export function findMember(object: JsonObject, key: string): JsonValue | undefined {
  const wanted = toCanonicalKey(key);
  const found = Object.keys(object).findLast((candidate) => toCanonicalKey(candidate) === wanted);
  return found === undefined ? undefined : object[found];
}

/** The object with its members renamed to the declared spelling; undeclared members keep their names. */
export function bindKeys(object: JsonObject, names: readonly string[]): JsonObject {
  const spellings = new Map(names.map((name) => [toCanonicalKey(name), name]));
  return Object.fromEntries(
    Object.entries(object).map(([key, value]) => [spellings.get(toCanonicalKey(key)) ?? key, value]),
  );
}

/** The canonical form of a key's spellings: lower case, without `-` and `_`. */
export function toCanonicalKey(key: string): string {
  return key.replaceAll(/[-_]/g, '').toLowerCase();
}

/** The canonical form of a dotted path's spellings: `kubernetes.accounts[0].kubeconfigfile`. */
export function toCanonicalPath(path: string): string {
  return formatSegments(
    splitPath(path).map((part) => (typeof part === 'string' ? toCanonicalKey(part) : part)),
  );
}

/** Joins a path and a key or index below it. */
export function joinPath(path: string, part: string | number): string {
  if (typeof part === 'number') return `${path}[${part}]`;
  return path === '' ? part : `${path}.${part}`;
}

/** Merges two values of different documents. */
function mergeValues(base: JsonValue, over: JsonValue): JsonValue {
  if (isJsonObject(base) && isJsonObject(over)) return mergeMaps(base, over, mergeValues);
  return isJsonObject(base) && over === null ? base : over;
}

/** Merges two values of one document: there `accounts[0].name` and `accounts[0].context` make one list. */
function mergeBranches(base: JsonValue, over: JsonValue): JsonValue {
  if (!Array.isArray(base) || !Array.isArray(over)) {
    return isJsonObject(base) && isJsonObject(over) ? mergeMaps(base, over, mergeBranches) : over;
  }
  const merged = base.slice();
  over.forEach((item, index) => {
    merged[index] = index in base ? mergeBranches(base[index] as JsonValue, item) : item;
  });
  return merged;
}

/** Merges two maps; keys with the same canonical form are one, in the later spelling. */
function mergeMaps(
  base: JsonObject,
  over: JsonObject,
  merge: (base: JsonValue, over: JsonValue) => JsonValue,
): JsonObject {
  const merged = new Map(Object.entries(base).map(([key, value]) => [toCanonicalKey(key), { key, value }]));
  for (const [key, value] of Object.entries(over)) {
    const earlier = merged.get(toCanonicalKey(key));
    merged.set(toCanonicalKey(key), { key, value: earlier ? merge(earlier.value, value) : value });
  }
  return Object.fromEntries([...merged.values()].map(({ key, value }) => [key, value]));
}

/** Nests the dotted keys of a map and of everything in it. Lists may have holes. */
function expandMap(map: JsonObject): JsonObject {
  let expanded: JsonObject = {};
  for (const [key, value] of Object.entries(map)) {
    const branch = splitPath(key).reduceRight<JsonValue>(nest, expandValue(value));
    expanded = mergeMaps(expanded, branch as JsonObject, mergeBranches);
  }
  return expanded;
}

function expandValue(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(expandValue);
  return isJsonObject(value) ? expandMap(value) : value;
}

/** Puts a value below one segment of a path. */
function nest(value: JsonValue, segment: string | number): JsonValue {
  if (typeof segment === 'string') return Object.fromEntries([[segment, value]]);
  const list: JsonValue[] = [];
  list[segment] = value;
  return list;
}

/** Refuses lists with holes, as Spring does. */
function assertDense(value: JsonValue, path: string): void {
  if (Array.isArray(value)) {
    const present = Object.keys(value).length;
    if (present < value.length) {
      throw new InvalidInputError(
        `${path}: expected indexes from 0 without a gap, got ${present} of ${value.length}`,
      );
    }
    value.forEach((item, index) => {
      assertDense(item, joinPath(path, index));
    });
  } else if (isJsonObject(value)) {
    for (const [key, member] of Object.entries(value)) assertDense(member, joinPath(path, key));
  }
}

/** Keys and indexes of a dotted path. A malformed one is a single literal key. */
function splitPath(path: string): (string | number)[] {
  if (/^\w+(?:\.\w+)*$/.test(path)) return path.split('.');
  if (!/^(?:[^.[\]]+|\[[^[\]]*\])(?:\.[^.[\]]+|\.?\[[^[\]]*\])*$/.test(path)) return [path];
  return [...path.matchAll(/[^.[\]]+|\[([^[\]]*)\]/g)].map(([text, bracketed]) => {
    if (bracketed === undefined) return text;
    return /^\d+$/.test(bracketed) ? Number(bracketed) : bracketed;
  });
}

function formatSegments(segments: readonly (string | number)[]): string {
  return segments.reduce<string>(joinPath, '');
}

/** The texts of a string (comma-separated) or list, such as `spring.profiles.active`; undefined for anything else. */
function listTexts(value: JsonValue | undefined): readonly string[] | undefined {
  if (typeof value === 'string') return value.split(',');
  return Array.isArray(value) ? value.map((item) => asString(item) ?? '') : undefined;
}
