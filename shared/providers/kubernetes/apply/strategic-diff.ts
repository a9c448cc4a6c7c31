import { asJsonObject, isJsonObject, isSameJson, type JsonObject, type JsonValue } from '#core/json.ts';
import { compareGoStrings } from '../manifest/go-json.ts';
import {
  getIdentity,
  holdsObjects,
  type MergeList,
  pairByIdentity,
  sortByIdentity,
  sortByOrder,
} from './merge-list.ts';
import { getInnerType, getPatchField, type PatchField, type PatchType } from './patch-schema.ts';

/** What a diff reports: what is new or different in `modified`, or what it lacks. */
export type DiffMode = 'changes' | 'deletions';

interface DiffScope {
  readonly type: PatchType;
  readonly mode: DiffMode;
  /** Whether the patch of this object names all members to keep. */
  readonly retainKeys?: boolean | undefined;
  /** True to leave out what kubectl sends even without a difference. Default: false. */
  readonly isTerse?: boolean | undefined;
}

/**
 * The part of a strategic merge patch that turns `base` into `modified`, of one mode only.
 *
 * Its directives are the API server's: `$setElementOrder/<list>` (identities in their new order), `$deleteFromPrimitiveList/<list>`,
 * `$patch: delete` on an element of a list, and `$retainKeys`.
 *
 * @returns empty if there is nothing to report
 * @throws {InvalidInputError} if a merged list holds elements that cannot be distinguished
 */
export function diffObjects(base: JsonObject, modified: JsonObject, scope: DiffScope): JsonObject {
  const patch = Object.entries(modified).flatMap(([key, after]) =>
    diffMember({ key, before: Object.hasOwn(base, key) ? base[key] : undefined, after }, scope),
  );
  const missingKeys = Object.keys(base).filter((key) => !Object.hasOwn(modified, key));
  if (scope.mode === 'deletions') for (const key of missingKeys) patch.push([key, null]);
  if (scope.retainKeys && (patch.length > 0 || missingKeys.some((key) => base[key] !== null))) {
    const retained = Object.keys(modified).filter((key) => modified[key] !== null);
    if (retained.length > 0) patch.push(['$retainKeys', retained.sort(compareGoStrings)]);
  }
  return Object.fromEntries(patch);
}

type PatchEntry = [key: string, value: JsonValue];

interface MemberDiff {
  readonly key: string;
  readonly before: JsonValue | undefined;
  readonly after: JsonValue;
}

function diffMember({ key, before, after }: MemberDiff, scope: DiffScope): PatchEntry[] {
  const field = getPatchField(scope.type, key);
  if (isJsonObject(before) && isJsonObject(after) && field.strategy !== 'replace') {
    const inner = { ...scope, type: getInnerType(field), retainKeys: field.retainKeys };
    const patch = diffObjects(before, after, inner);
    return Object.keys(patch).length > 0 ? [[key, patch]] : [];
  }
  if (Array.isArray(before) && Array.isArray(after) && field.strategy === 'merge') {
    return diffMergeLists(before, after, { name: key, field, mode: scope.mode, isTerse: scope.isTerse });
  }
  // As in kubectl, an object that replaces the live one is sent even if nothing changed.
  const isSent = (field.strategy === 'replace' && !scope.isTerse) || !isSameJson(before, after);
  return scope.mode === 'changes' && isSent ? [[key, after]] : [];
}

interface ListScope {
  readonly name: string;
  readonly field: PatchField;
  readonly mode: DiffMode;
  readonly isTerse: boolean | undefined;
}

function diffMergeLists(before: JsonValue[], after: JsonValue[], scope: ListScope): PatchEntry[] {
  const { name, field, mode } = scope;
  if (scope.isTerse && isSameJson(before, after)) return [];
  if (before.length === 0) return mode === 'changes' && after.length > 0 ? [[name, after]] : [];
  const list = { name, mergeKey: field.mergeKey };
  const diffLists = holdsObjects(list, [...before, ...after]) ? diffObjectLists : diffScalarLists;
  return diffLists(before, after, scope).filter(([, value]) => !Array.isArray(value) || value.length > 0);
}

function diffObjectLists(before: JsonValue[], after: JsonValue[], scope: ListScope): PatchEntry[] {
  const { name, field, mode } = scope;
  const mergeKey = field.mergeKey ?? '';
  const list = { name, mergeKey };
  const changed: JsonObject[] = [];
  const deleted: JsonObject[] = [];
  for (const [left, right] of pairByIdentity(list, before, after)) {
    if (right !== undefined) for (const item of diffElement(left, right, scope)) changed.push(item);
    else if (left !== undefined && mode === 'deletions') {
      deleted.push({ [mergeKey]: getIdentity(list, left), $patch: 'delete' });
    }
  }
  const items = [...sortByOrder(list, changed, after), ...deleted];
  const isOrderSent = items.length > 0 || (mode === 'changes' && !haveSameOrder(list, before, after));
  const order = isOrderSent ? after.map((element) => ({ [mergeKey]: getIdentity(list, element) })) : [];
  return [
    [name, items],
    [`$setElementOrder/${name}`, order],
  ];
}

/** @returns what the patch's list holds for an element of the new list: one object or none */
function diffElement(before: JsonValue | undefined, after: JsonValue, scope: ListScope): JsonObject[] {
  const { name, field, mode } = scope;
  const element = asJsonObject(after) ?? {};
  if (before === undefined) return mode === 'changes' ? [element] : [];
  const inner = { type: getInnerType(field), mode, retainKeys: field.retainKeys, isTerse: scope.isTerse };
  const patch = diffObjects(asJsonObject(before) ?? {}, element, inner);
  if (Object.keys(patch).length === 0) return [];
  const mergeKey = field.mergeKey ?? '';
  return [{ ...patch, [mergeKey]: getIdentity({ name, mergeKey }, after) }];
}

function haveSameOrder(list: MergeList, before: JsonValue[], after: JsonValue[]): boolean {
  const identify = (element: JsonValue) => getIdentity(list, element);
  return isSameJson(before.map(identify), after.map(identify));
}

function diffScalarLists(before: JsonValue[], after: JsonValue[], scope: ListScope): PatchEntry[] {
  const { name, mode } = scope;
  const list = { name, mergeKey: undefined };
  const pairs = pairByIdentity(list, before, after);
  const added = pairs.flatMap(([left, right]) => (left === undefined && right !== undefined ? [right] : []));
  const deleted = pairs.flatMap(([left, right]) => (left !== undefined && right === undefined ? [left] : []));
  if (mode === 'deletions') {
    return [
      [`$deleteFromPrimitiveList/${name}`, [...new Set(deleted)]],
      [`$setElementOrder/${name}`, deleted.length > 0 ? after : []],
    ];
  }
  // kubectl compares with the live list in sorted order, so it sends the order of every unsorted list.
  const isOrderSent = !isSameJson(sortByIdentity(list, before), after);
  return [
    [name, sortByOrder(list, added, after)],
    [`$setElementOrder/${name}`, isOrderSent ? after : []],
  ];
}
