/** A JSON scalar. */
export type JsonPrimitive = string | number | boolean | null;

/** Any JSON value. */
export type JsonValue = JsonPrimitive | JsonValue[] | JsonObject;

/** A JSON object; a key may be missing, so reads give `JsonValue | undefined`. */
export type JsonObject = { [key: string]: JsonValue };

/** True for a JSON object: not null, not an array, not a scalar. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The object at `value`, or undefined when it is anything else. */
export function asJsonObject(value: unknown): JsonObject | undefined {
  return isJsonObject(value) ? value : undefined;
}

/** The array at `value`, or an empty one when it is anything else. */
export function asJsonArray(value: unknown): JsonValue[] {
  return Array.isArray(value) ? value : [];
}

/** The string at `value`, or undefined when it is anything else. */
export function asString(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** The value reached from `root` through object keys, or undefined when a step is missing or no object. */
export function getPath(root: unknown, ...keys: readonly string[]): JsonValue | undefined {
  let current: unknown = root;
  for (const key of keys) {
    if (!isJsonObject(current)) return undefined;
    current = Object.hasOwn(current, key) ? current[key] : undefined;
  }
  return current as JsonValue | undefined;
}

/** True when no member of `value` lies deeper than `levels`. It does not recurse, so no depth can exhaust the stack. */
export function isWithinDepth(value: JsonValue, levels: number): boolean {
  let members: JsonValue[] = [value];
  for (let level = 0; members.length > 0; level += 1) {
    if (level > levels) return false;
    members = members.flatMap((member) =>
      typeof member === 'object' && member !== null ? Object.values(member) : [],
    );
  }
  return true;
}

/**
 * A copy of `value` whose null object members are gone, as Clouddriver's serializer drops them.
 * Nulls inside arrays stay.
 */
export function omitNulls(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(omitNulls);
  if (!isJsonObject(value)) return value;
  const kept = Object.entries(value).filter(([, member]) => member !== null && member !== undefined);
  return Object.fromEntries(kept.map(([key, member]) => [key, omitNulls(member)]));
}

/**
 * A copy of `value` for `JSON.stringify` in which every number is written as a double (`2` as `2.0`).
 *
 * Clouddriver reads all Kubernetes JSON into doubles, and the Java Orca casts `status.readyReplicas` and
 * `status.availableReplicas` to Double: an integer literal there fails its blue/green stages.
 */
export function withDoubles(value: JsonValue): unknown {
  if (typeof value === 'number') return Number.isInteger(value) ? rawNumber(value) : value;
  if (Array.isArray(value)) return value.map(withDoubles);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, withDoubles(member)]));
}

/** `JSON.rawJSON` of an integer with a decimal point; exponents already mean a double to Java. */
function rawNumber(value: number): unknown {
  const digits = String(value);
  return rawJson(digits.includes('e') ? digits : `${digits}.0`);
}

/** Standard ECMAScript (Node 22+) that TypeScript's library does not declare yet. */
const { rawJSON: rawJson } = JSON as unknown as { rawJSON(text: string): unknown };
