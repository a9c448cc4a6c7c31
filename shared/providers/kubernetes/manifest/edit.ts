import { asJsonObject, isJsonObject, type JsonObject, type JsonValue } from '#core/json.ts';

/**
 * A copy of `root` in which `change` has replaced the object at the end of `path`. Missing objects on the way are created; `root` itself is
 * unchanged.
 */
export function changeObject(
  root: JsonObject,
  path: readonly string[],
  change: (object: JsonObject) => JsonObject,
): JsonObject {
  const [key, ...rest] = path;
  if (key === undefined) return change(root);
  return { ...root, [key]: changeObject(asJsonObject(root[key]) ?? {}, rest, change) };
}

/** A step of a path: a member's name, or `*` for each element of a list. */
export type PathStep = string;

/**
 * `root` with `change` applied to each string that `path` reaches. Values that do not fit the path are left alone, and unchanged values
 * keep their identity; `root` itself is unchanged.
 */
export function changeStrings<T extends JsonValue>(
  root: T,
  path: readonly PathStep[],
  change: (value: string) => string,
): T {
  return changeAt(root, path, (value) => (typeof value === 'string' ? change(value) : value)) as T;
}

/**
 * `root` with `change` applied to each pod spec in a template: `spec.template.spec` of `root` or of anything inside it, such as a CronJob's
 * job template.
 */
export function changeTemplateSpecs<T extends JsonValue>(
  root: T,
  change: (podSpec: JsonObject) => JsonValue,
): T {
  if (typeof root !== 'object' || root === null) return root;
  const inner = changeMembers(root, (member) => changeTemplateSpecs(member, change));
  return changeAt(inner, ['spec', 'template', 'spec'], (value) =>
    isJsonObject(value) ? change(value) : value,
  ) as T;
}

/** `root` with `change` applied to each value that `path` reaches. */
function changeAt(
  root: JsonValue,
  path: readonly PathStep[],
  change: (value: JsonValue) => JsonValue,
): JsonValue {
  const [step, ...rest] = path;
  if (step === undefined) return change(root);
  if (step === '*') {
    return Array.isArray(root) ? changeMembers(root, (item) => changeAt(item, rest, change)) : root;
  }
  if (!isJsonObject(root) || !Object.hasOwn(root, step)) return root;
  const member = root[step] as JsonValue;
  const changed = changeAt(member, rest, change);
  return changed === member ? root : { ...root, [step]: changed };
}

/** `value` with `change` applied to each element or member, the same value when none of them changed. */
export function changeMembers(value: JsonValue, change: (member: JsonValue) => JsonValue): JsonValue {
  if (Array.isArray(value)) {
    const items = value.map(change);
    return items.every((item, index) => item === value[index]) ? value : items;
  }
  if (!isJsonObject(value)) return value;
  // Deploys walk whole manifests many times, nearly always without a change: copy only at the first change.
  let copy: JsonObject | undefined;
  for (const key of Object.keys(value)) {
    const member = value[key] as JsonValue;
    const changed = change(member);
    if (changed === member) continue;
    copy ??= { ...value };
    copy[key] = changed;
  }
  return copy ?? value;
}

/** An object with the result of `map` for each member, without undefined results. */
export function mapMembers(
  object: JsonObject,
  map: (key: string, member: JsonValue) => JsonValue | undefined,
): JsonObject {
  const members = Object.entries(object).map(([key, member]) => [key, map(key, member)] as const);
  return Object.fromEntries(members.filter((entry): entry is [string, JsonValue] => entry[1] !== undefined));
}

/** The object without the record of which manager owns which field: kubectl, and so Spinnaker, never shows it. */
export function omitManagedFields(object: JsonObject): JsonObject {
  const { managedFields: _, ...metadata } = asJsonObject(object.metadata) ?? {};
  return { ...object, metadata };
}
