/**
 * A JSON scalar. Integers beyond 2^53 - 1 on either side, which a double may not hold, are `bigint`: `parseBoundedJson` reads them so, and
 * `JSON.stringify` writes them exactly: see the end of this file. Every other number is a `number`.
 */
export type JsonPrimitive = string | number | bigint | boolean | null;

/** Any JSON value. */
export type JsonValue = JsonPrimitive | JsonValue[] | JsonObject;

/** A JSON object; a key may be missing, so reads give `JsonValue | undefined`. */
export type JsonObject = { [key: string]: JsonValue };

/** True for a JSON object: not null, not an array, not a scalar. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The object at `value`; undefined when it is anything else. */
export function asJsonObject(value: unknown): JsonObject | undefined {
  return isJsonObject(value) ? value : undefined;
}

/** The array at `value`; an empty one when it is anything else. */
export function asJsonArray(value: unknown): JsonValue[] {
  return Array.isArray(value) ? value : [];
}

/** The string at `value`; undefined when it is anything else. */
export function asString(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** The value of a text; undefined for one that is no JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The value reached from `root` through object keys; undefined when a step is missing or no object. */
export function getPath(root: unknown, ...keys: readonly string[]): JsonValue | undefined {
  let current: unknown = root;
  for (const key of keys) {
    if (!isJsonObject(current)) return undefined;
    current = Object.hasOwn(current, key) ? current[key] : undefined;
  }
  return current as JsonValue | undefined;
}

/** Whether two values are equal, whatever the order of members. Numbers are compared by {@link isSameNumber}. */
export function isSameJson(one: JsonValue | undefined, other: JsonValue | undefined): boolean {
  if (one === other) return true;
  if (isNumber(one)) return isNumber(other) && isSameNumber(one, other);
  if (Array.isArray(one)) return Array.isArray(other) && haveSameElements(one, other);
  return isJsonObject(one) && isJsonObject(other) && haveSameMembers(one, other);
}

function haveSameElements(one: readonly JsonValue[], other: readonly JsonValue[]): boolean {
  return one.length === other.length && one.every((element, index) => isSameJson(element, other[index]));
}

function haveSameMembers(one: JsonObject, other: JsonObject): boolean {
  const keys = Object.keys(one);
  if (keys.length !== Object.keys(other).length) return false;
  return keys.every((key) => Object.hasOwn(other, key) && isSameJson(one[key], other[key]));
}

function isNumber(value: JsonValue | undefined): value is number | bigint {
  return typeof value === 'number' || typeof value === 'bigint';
}

/**
 * Whether two numbers are the same to Kubernetes, which reads integers of 64 bits exactly and turns larger ones into doubles: it answers
 * 18446744073709552000 for 2^64 - 1.
 */
export function isSameNumber(one: number | bigint, other: number | bigint): boolean {
  return toKept(one) === toKept(other);
}

/** The number as Kubernetes stores it. */
function toKept(value: number | bigint): number | bigint {
  if (typeof value === 'bigint') return BigInt.asIntN(64, value) === value ? value : Number(value);
  if (!Number.isInteger(value) || Number.isSafeInteger(value)) return value;
  return value >= -(2 ** 63) && value < 2 ** 63 ? BigInt(value) : value;
}

/** True when no member of `value` is deeper than `levels`. It does not recurse, so no depth can exhaust the stack. */
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

/** A copy of `value` without null object members, which Clouddriver's serializer drops, too. Nulls inside arrays stay. */
export function omitNulls(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(omitNulls);
  return isJsonObject(value) ? omitNullMembers(value) : value;
}

/** The same for an object, which remains one. */
export function omitNullMembers(object: JsonObject): JsonObject {
  const kept = Object.entries(object).filter(([, member]) => member !== null && member !== undefined);
  return Object.fromEntries(kept.map(([key, member]) => [key, omitNulls(member)]));
}

/**
 * A copy of `value` for `JSON.stringify` in which every number that a double holds is written as one (`2` as `2.0`). Integers beyond 2^53
 * stay integers: as doubles they would become other numbers.
 *
 * Clouddriver reads all Kubernetes JSON into doubles, and the Java Orca casts `status.readyReplicas` and `status.availableReplicas` to
 * Double: an integer literal there fails its blue/green stages.
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

// `JSON.stringify` refuses bigints without this method. With it, every JSON text is exact; a function of our own would have to be used
// wherever JSON with numbers from outside is written.
Object.defineProperty(BigInt.prototype, 'toJSON', {
  value(this: bigint): unknown {
    return rawJson(String(this));
  },
  configurable: true,
  writable: true,
});
