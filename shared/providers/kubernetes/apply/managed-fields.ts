import {
  asJsonArray,
  asJsonObject,
  asString,
  getPath,
  isJsonObject,
  isSameJson,
  type JsonObject,
} from '#core/json.ts';
import type { Manifest } from '../api/manifest.ts';
import { lastAppliedAnnotation } from './last-applied.ts';

/** How a manager came to own fields: by server-side apply, or by any other write. */
export type ManagedFieldsOperation = 'Apply' | 'Update';

/** Names of the managers that own the last-applied annotation of a live object. */
export function listAnnotationOwners(object: Manifest, operation: ManagedFieldsOperation): string[] {
  const path = ['fieldsV1', 'f:metadata', 'f:annotations', `f:${lastAppliedAnnotation}`];
  const owners = listEntries(object).filter(
    (entry) => entry.operation === operation && getPath(entry, ...path) !== undefined,
  );
  return [...new Set(owners.map((entry) => asString(entry.manager) ?? ''))];
}

/**
 * The managed fields of an object, with some managers' fields from plain writes moved to another manager's server-side apply: fields that a
 * user's client-side applies set are from then on removed when the manifest drops them.
 *
 * @returns undefined if there is nothing to move
 */
export function moveManagedFields(
  object: Manifest,
  from: readonly string[],
  to: string,
): JsonObject[] | undefined {
  const entries = listEntries(object);
  const moved = from.reduce((remaining, manager) => moveManager(remaining, manager, to), entries);
  return isSameJson(moved, entries) ? undefined : moved;
}

function moveManager(entries: readonly JsonObject[], from: string, to: string): JsonObject[] {
  const isSource = (entry: JsonObject) => isEntryOf(entry, from, 'Update');
  const target =
    entries.find((entry) => isEntryOf(entry, to, 'Apply')) ?? entries.find((entry) => isSource(entry));
  if (target === undefined) return [...entries];
  const source = entries.find((entry) => isSource(entry) && entry.apiVersion === target.apiVersion);
  const fieldsV1 = joinFields(asJsonObject(target.fieldsV1) ?? {}, asJsonObject(source?.fieldsV1) ?? {});
  return entries.flatMap((entry) => {
    if (entry === target) return [{ ...entry, manager: to, operation: 'Apply', fieldsV1 }];
    return isSource(entry) ? [] : [entry];
  });
}

/** True for a manager's entry for the object itself, not for a subresource such as its status. */
function isEntryOf(entry: JsonObject, manager: string, operation: ManagedFieldsOperation): boolean {
  return entry.manager === manager && entry.operation === operation && !entry.subresource;
}

/**
 * The union of two sets of fields, each a tree whose members are path elements. A node is itself in the set if it is empty or has a member
 * `.`.
 */
function joinFields(left: JsonObject, right: JsonObject): JsonObject {
  const keys = new Set([...Object.keys(left), ...Object.keys(right)]);
  return Object.fromEntries([...keys].map((key) => [key, joinNodes(asNode(left, key), asNode(right, key))]));
}

function joinNodes(left: JsonObject | undefined, right: JsonObject | undefined): JsonObject {
  if (left === undefined || right === undefined) return left ?? right ?? {};
  const isMember = [left, right].some((node) => Object.keys(node).length === 0);
  const joined = joinFields(left, right);
  return isMember && Object.keys(joined).length > 0 ? { ...joined, '.': {} } : joined;
}

function asNode(parent: JsonObject, key: string): JsonObject | undefined {
  return Object.hasOwn(parent, key) ? asJsonObject(parent[key]) : undefined;
}

/** The entries that an object has of its managers. */
export function listEntries(object: Manifest | undefined): JsonObject[] {
  return asJsonArray(getPath(object, 'metadata', 'managedFields')).filter(isJsonObject);
}
