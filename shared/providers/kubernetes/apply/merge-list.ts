import { InvalidInputError } from '#core/errors.ts';
import { isJsonObject, type JsonValue } from '#core/json.ts';
import { compareGoStrings } from '../manifest/go-json.ts';

/** A list whose elements a strategic merge patch merges with the live ones instead of replacing the list. */
export interface MergeList {
  /** Name of the field, for error messages. */
  readonly name: string;
  /** The member that identifies an element; undefined for lists of scalars. */
  readonly mergeKey: string | undefined;
}

/** JSON's names of types. */
export type JsonType = 'null' | 'array' | 'object' | 'string' | 'number' | 'boolean';

/** The JSON type of a value. */
export function getJsonType(value: JsonValue): JsonType {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return typeof value === 'bigint' ? 'number' : (typeof value as 'object' | 'string' | 'number' | 'boolean');
}

/**
 * Checks that the elements of lists can be merged.
 *
 * @returns whether they are objects, each with the merge key
 * @throws {InvalidInputError} for elements of different types, lists of lists, and elements without the merge key
 */
export function holdsObjects(list: MergeList, elements: readonly JsonValue[]): boolean {
  const types = new Set(elements.map(getJsonType));
  if (types.size > 1 || types.has('array') || types.has('null')) {
    throw new InvalidInputError(
      `${list.name}: the elements of this list must all be objects or all be scalars`,
    );
  }
  if (!types.has('object')) return false;
  for (const element of elements) getIdentity(list, element);
  return true;
}

/**
 * What identifies an element of a merged list: the merge key's value, or the scalar itself.
 *
 * @throws {InvalidInputError} if an object lacks the merge key
 */
export function getIdentity({ name, mergeKey }: MergeList, element: JsonValue): JsonValue {
  if (!isJsonObject(element)) return element;
  const identity = mergeKey !== undefined && Object.hasOwn(element, mergeKey) ? element[mergeKey] : undefined;
  if (identity !== undefined) return identity;
  throw new InvalidInputError(`${name}: an element of this list lacks '${mergeKey}', by which it is merged`);
}

/**
 * Pairs the elements of two lists by identity, in the order of the identities' texts. An element without a
 * counterpart is paired with undefined.
 */
export function pairByIdentity(
  list: MergeList,
  left: readonly JsonValue[],
  right: readonly JsonValue[],
): [JsonValue | undefined, JsonValue | undefined][] {
  const lefts = sortByIdentity(list, left);
  const rights = sortByIdentity(list, right);
  const pairs: [JsonValue | undefined, JsonValue | undefined][] = [];
  while (lefts.length > 0 || rights.length > 0) {
    const order = compareIdentities(list, lefts[0], rights[0]);
    pairs.push([order <= 0 ? lefts.shift() : undefined, order >= 0 ? rights.shift() : undefined]);
  }
  return pairs;
}

/** @returns as a comparator of `sort`; a missing element comes last */
function compareIdentities(
  list: MergeList,
  left: JsonValue | undefined,
  right: JsonValue | undefined,
): number {
  if (left === undefined) return 1;
  if (right === undefined) return -1;
  return compareGoStrings(String(getIdentity(list, left)), String(getIdentity(list, right)));
}

/**
 * Sorts by identity, as texts. Of elements with the same identity (a port number of two protocols) the later comes first: the pairing
 * decides what kubectl sends, and its sort orders lists of up to twelve elements this way.
 */
export function sortByIdentity(list: MergeList, elements: readonly JsonValue[]): JsonValue[] {
  return elements.toReversed().sort((left, right) => compareIdentities(list, left, right));
}

/** Sorts elements by the first position of their identity in `order`; elements missing there come last. */
export function sortByOrder(
  list: MergeList,
  elements: readonly JsonValue[],
  order: readonly JsonValue[],
): JsonValue[] {
  const ranks = new Map<JsonValue, number>();
  for (const [index, element] of order.entries()) {
    const identity = getIdentity(list, element);
    if (!ranks.has(identity)) ranks.set(identity, index);
  }
  const getRank = (element: JsonValue) => ranks.get(getIdentity(list, element)) ?? order.length;
  return elements.toSorted((left, right) => getRank(left) - getRank(right));
}
