import { InvalidInputError } from '#core/errors.ts';
import { getPath, isJsonObject, isSameJson, type JsonObject, omitNulls } from '#core/json.ts';
import { mapMembers } from '../manifest/edit.ts';
import type { PatchType } from './patch-schema.ts';
import { diffObjects } from './strategic-diff.ts';
import { mergePatches } from './strategic-merge.ts';

/** The three versions of an object from which `kubectl apply` computes its patch. None of them is changed. */
export interface ThreeVersions {
  /** The last applied manifest; empty if none is known, so that nothing is deleted. */
  readonly original: JsonObject;
  /** The manifest to apply. */
  readonly modified: JsonObject;
  /** The live object. */
  readonly current: JsonObject;
}

/**
 * The strategic merge patch that `kubectl apply` sends for a built-in kind: sets what differs from the live object, deletes what was in the
 * last manifest and is not in this one, and leaves alone what others added.
 *
 * @param type the rules of the kind
 * @returns empty if there is nothing to do
 * @throws {InvalidInputError} if a merged list holds elements that cannot be distinguished
 */
export function createStrategicPatch(versions: ThreeVersions, type: PatchType): JsonObject {
  const { original, modified, current } = versions;
  const changes = diffObjects(current, modified, { type, mode: 'changes' });
  const deletions = diffObjects(original, modified, { type, mode: 'deletions' });
  return mergePatches(deletions, changes, type);
}

/**
 * Whether the patch of {@link createStrategicPatch} changes anything. kubectl sends some unchanged members: an object to be replaced as a
 * whole, and the order of an unsorted list.
 */
export function hasDifference({ original, modified, current }: ThreeVersions, type: PatchType): boolean {
  const deletions = diffObjects(original, modified, { type, mode: 'deletions' });
  const changes = diffObjects(current, modified, { type, mode: 'changes', isTerse: true });
  return [deletions, changes].some((patch) => Object.keys(patch).length > 0);
}

/**
 * The JSON merge patch that `kubectl apply` sends for a custom resource: like {@link createStrategicPatch}, but with whole lists.
 *
 * @returns empty if there is nothing to do
 * @throws {InvalidInputError} if the manifest's apiVersion, kind or name differs from the live object's
 */
export function createJsonMergePatch({ original, modified, current }: ThreeVersions): JsonObject {
  const patch = mergeJsonPatches(diffJsonDeletions(original, modified), diffJsonChanges(current, modified));
  for (const path of [['apiVersion'], ['kind'], ['metadata', 'name']]) {
    if (getPath(patch, ...path) === undefined) continue;
    throw new InvalidInputError(`${path.join('.')}: apply cannot change it from that of the live object`);
  }
  return patch;
}

/**
 * What a JSON merge patch sets to turn `base` into `modified`. Lists are set whole. Nulls of the manifest are left
 * to {@link diffJsonDeletions}; inside lists they are dropped, as kubectl drops them.
 */
function diffJsonChanges(base: JsonObject, modified: JsonObject): JsonObject {
  return mapMembers(modified, (key, after) => {
    const before = Object.hasOwn(base, key) ? base[key] : undefined;
    if (after === null || isSameJson(before, after)) return undefined;
    if (!isJsonObject(after)) return omitNulls(after);
    const isReplaced = !isJsonObject(before);
    if (isReplaced && Object.keys(after).length === 0) return {};
    return keepFilled(diffJsonChanges(isReplaced ? {} : before, after));
  });
}

/** What a JSON merge patch sets to null: members that `modified` lacks, and those that it sets to null itself. */
function diffJsonDeletions(base: JsonObject, modified: JsonObject): JsonObject {
  return mapMembers({ ...base, ...modified }, (key) => {
    const before = Object.hasOwn(base, key) ? base[key] : undefined;
    const after = Object.hasOwn(modified, key) ? modified[key] : undefined;
    if (after === undefined) return null;
    if (after === null) return before === null ? undefined : null;
    if (!isJsonObject(after)) return undefined;
    return keepFilled(diffJsonDeletions(isJsonObject(before) ? before : {}, after));
  });
}

/** Joins the two halves of a JSON merge patch. They never set the same member to different values. */
function mergeJsonPatches(deletions: JsonObject, changes: JsonObject): JsonObject {
  return mapMembers({ ...deletions, ...changes }, (key, member) => {
    const deletion = Object.hasOwn(deletions, key) ? deletions[key] : undefined;
    return isJsonObject(deletion) && isJsonObject(member) ? mergeJsonPatches(deletion, member) : member;
  });
}

function keepFilled(object: JsonObject): JsonObject | undefined {
  return Object.keys(object).length > 0 ? object : undefined;
}
