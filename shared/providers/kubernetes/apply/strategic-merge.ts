import { InvalidInputError } from '#core/errors.ts';
import {
  asJsonArray,
  asJsonObject,
  getPath,
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from '#core/json.ts';
import { mapMembers } from '../manifest/edit.ts';
import { getIdentity, getJsonType, type MergeList, sortByOrder } from './merge-list.ts';
import { getInnerType, getPatchField, type PatchType } from './patch-schema.ts';

/**
 * Joins the two halves of a strategic merge patch, from `diffObjects`, into one patch. A `$patch` directive in the manifest itself is
 * applied as in kubectl.
 *
 * @throws {InvalidInputError} for a `$patch` that is neither `delete` nor `replace`
 */
export function mergePatches(deletions: JsonObject, changes: JsonObject, type: PatchType): JsonObject {
  if (Object.hasOwn(changes, '$patch')) return applyPatchDirective(changes);
  const merged = new Map(Object.entries(deletions));
  for (const [key, change] of Object.entries(changes)) {
    if (key.startsWith(orderPrefix)) checkOrder(key.slice(orderPrefix.length), changes, type);
    const member = mergeMember({ key, deletions, change }, type);
    if (member !== undefined) merged.set(key, member);
    else merged.delete(key);
  }
  return Object.fromEntries(merged);
}

const orderPrefix = '$setElementOrder/';

/**
 * Checks that a list's elements are in the order that is sent along. They may not be if an identity occurs twice (a port number of two
 * protocols) with others in between, and neither kubectl nor the API server accepts such a patch.
 *
 * @throws {InvalidInputError} if they are not
 */
function checkOrder(name: string, changes: JsonObject, type: PatchType): void {
  const list = { name, mergeKey: getPatchField(type, name).mergeKey };
  const elements = asJsonArray(getPath(changes, name)).filter(
    (element) => getDirective(element) === undefined,
  );
  const order = asJsonArray(getPath(changes, `${orderPrefix}${name}`)).map((each) => getIdentity(list, each));
  let place = 0;
  for (const element of elements) {
    place = order.indexOf(getIdentity(list, element), place) + 1;
    if (place > 0) continue;
    const same = list.mergeKey === undefined ? 'the same value' : `the same '${list.mergeKey}'`;
    throw new InvalidInputError(`${name}: elements with ${same} must stand next to each other to be merged`);
  }
}

interface MemberMerge {
  readonly key: string;
  readonly deletions: JsonObject;
  readonly change: JsonValue;
}

function mergeMember({ key, deletions, change }: MemberMerge, type: PatchType): JsonValue | undefined {
  const deletion = Object.hasOwn(deletions, key) ? deletions[key] : undefined;
  if (deletion === undefined || getJsonType(deletion) !== getJsonType(change)) return omitDirectives(change);
  const field = getPatchField(type, key);
  if (isJsonObject(deletion) && isJsonObject(change) && field.strategy !== 'replace') {
    return mergePatches(deletion, change, getInnerType(field));
  }
  if (Array.isArray(deletion) && Array.isArray(change) && field.strategy === 'merge') {
    const order = asJsonArray(getPath(deletions, `${orderPrefix}${key}`));
    const list = { name: key, mergeKey: field.mergeKey };
    return mergeElements({ list, deletions: deletion, changes: change, order }, getInnerType(field));
  }
  return change;
}

interface ListMerge {
  readonly list: MergeList;
  readonly deletions: readonly JsonValue[];
  readonly changes: readonly JsonValue[];
  /** The identities of all elements of the new list. */
  readonly order: readonly JsonValue[];
}

function mergeElements({ list, deletions, changes, order }: ListMerge, type: PatchType): JsonValue[] {
  const plain = changes.filter((element) => getDirective(element) === undefined);
  const isReplaced = changes.some((element) => getDirective(element) === 'replace');
  const merged = isReplaced ? [] : omitDeleted(list, deletions, changes);
  for (const change of plain) {
    const identity = getIdentity(list, change);
    const index = merged.findIndex((element) => getIdentity(list, element) === identity);
    const before = asJsonObject(merged[index]);
    if (before === undefined) merged.push(change);
    else merged[index] = mergePatches(before, asJsonObject(change) ?? {}, type);
  }
  const isKept = (element: JsonValue) => getDirective(element) !== 'delete';
  const kept = sortByOrder(list, merged.filter(isKept), order);
  return [...kept, ...merged.filter((element) => !isKept(element))];
}

/** The list without the elements that the manifest deletes by its own directive. */
function omitDeleted(
  list: MergeList,
  elements: readonly JsonValue[],
  changes: readonly JsonValue[],
): JsonValue[] {
  const deleted = changes.filter((element) => getDirective(element) === 'delete');
  const identities = new Set(deleted.map((element) => getIdentity(list, element)));
  return elements.filter((element) => !identities.has(getIdentity(list, element)));
}

function getDirective(element: JsonValue): JsonValue | undefined {
  const directive = getPath(element, '$patch');
  if (directive === undefined || directive === 'delete' || directive === 'replace') return directive;
  throw new InvalidInputError(`$patch: 'delete' or 'replace' was expected`);
}

function applyPatchDirective({ $patch: directive, ...members }: JsonObject): JsonObject {
  if (directive === 'replace') return members;
  if (directive === 'delete') return {};
  throw new InvalidInputError(`$patch: 'delete' or 'replace' was expected`);
}

/** @returns undefined for an object that holds only a directive */
function omitDirectives(value: JsonValue): JsonValue | undefined {
  if (Array.isArray(value)) return value.map(omitDirectives).filter((element) => element !== undefined);
  if (!isJsonObject(value)) return value;
  if (Object.hasOwn(value, '$patch')) return undefined;
  return mapMembers(value, (_, member) => omitDirectives(member));
}
