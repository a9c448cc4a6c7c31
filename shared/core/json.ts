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

/** How much a JSON text holds. */
export interface JsonMeasure {
  /** Depth of the deepest list or object: 1 for `[]`, 0 for a scalar. */
  readonly levels: number;
  /** Scalars, lists and objects: 1 for `[]`, 3 for `{"a":[0]}`. A text that is no JSON has about as many as it has commas. */
  readonly values: number;
  /** Members of the object that has most. */
  readonly members: number;
}

const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const openings = new Set([0x5b, 0x7b]);
const closings = new Set([0x5d, 0x7d]);
const openingOfObject = 0x7b;

/**
 * Measures a JSON text before anything is made of it: a text of 6 MB may hold millions of objects. One pass, without recursion;
 * what is no JSON is measured somehow.
 *
 * @param max it stops as soon as there are more levels or values
 */
export function measureJson(
  text: string,
  max: { readonly levels: number; readonly values: number },
): JsonMeasure {
  const measure = { levels: 0, values: 1, members: 0 };
  /** Members that objects have so far, and NaN for lists, by level. */
  const open: number[] = [];
  let previous = 0;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code <= 0x20) continue;
    if (code === quote) index = findStringEnd(text, index);
    else if (openings.has(code)) {
      if (open.length >= max.levels) return { ...measure, levels: max.levels + 1 };
      // One for the first member: taken back where there is none.
      measure.values += 1;
      open.push(code === openingOfObject ? 1 : Number.NaN);
      measure.levels = Math.max(measure.levels, open.length);
    } else if (closings.has(code)) {
      const members = open.pop() ?? 0;
      const isEmpty = openings.has(previous);
      if (isEmpty) measure.values -= 1;
      else if (members > measure.members) measure.members = members;
    } else if (code === comma) {
      measure.values += 1;
      if (measure.values > max.values) return measure;
      if (open.length > 0) open.push((open.pop() ?? 0) + 1);
    }
    previous = code;
  }
  return measure;
}

/** Place of the quote that ends the string which begins at `start`; the end of the text where none does. */
function findStringEnd(text: string, start: number): number {
  let index = start + 1;
  while (index < text.length) {
    const code = text.charCodeAt(index);
    if (code === quote) return index;
    index += code === backslash ? 2 : 1;
  }
  return text.length;
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
