import { asJsonObject, isJsonObject, type JsonObject, type JsonValue } from '#core/json.ts';

/**
 * A copy of `root` in which `change` has replaced the object at the end of `path`. Objects missing on the way are
 * made; `root` itself stays as it was.
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
 * `root` with `change` applied to each string that `path` reaches. What does not fit the path is left alone, and
 * what does not change keeps its identity; `root` itself stays as it was.
 */
export function changeStrings<T extends JsonValue>(
  root: T,
  path: readonly PathStep[],
  change: (value: string) => string,
): T {
  return changeAt(root, path, (value) => (typeof value === 'string' ? change(value) : value)) as T;
}

/**
 * `root` with `change` applied to each pod spec in a template: what `spec.template.spec` reaches from `root` or from
 * anything inside it, so also in the job template of a CronJob.
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
function changeMembers(value: JsonValue, change: (member: JsonValue) => JsonValue): JsonValue {
  if (Array.isArray(value)) {
    const items = value.map(change);
    return items.every((item, index) => item === value[index]) ? value : items;
  }
  if (!isJsonObject(value)) return value;
  // Deploys walk whole manifests many times, nearly always without a change: copy at the first one only.
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
