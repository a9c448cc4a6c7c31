import { isJsonObject, isSameJson, type JsonObject, omitNulls } from '#core/json.ts';
import { mapMembers } from '../manifest/edit.ts';

/**
 * What a JSON merge patch sets to turn `base` into `modified`. Lists are set whole. Nulls of the manifest are left
 * to {@link diffJsonDeletions}; inside lists they are dropped, as kubectl drops them.
 */
export function diffJsonChanges(base: JsonObject, modified: JsonObject): JsonObject {
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
export function diffJsonDeletions(base: JsonObject, modified: JsonObject): JsonObject {
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
export function mergeJsonPatches(deletions: JsonObject, changes: JsonObject): JsonObject {
  return mapMembers({ ...deletions, ...changes }, (key, member) => {
    const deletion = Object.hasOwn(deletions, key) ? deletions[key] : undefined;
    return isJsonObject(deletion) && isJsonObject(member) ? mergeJsonPatches(deletion, member) : member;
  });
}

function keepFilled(object: JsonObject): JsonObject | undefined {
  return Object.keys(object).length > 0 ? object : undefined;
}
