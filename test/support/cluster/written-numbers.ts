/** Objects and arrays that `parseNoting` made, and in whose text a number was written as an integer. */
const withIntegers = new WeakSet<object>();

/**
 * Parses JSON, and notes what a parse loses: which numbers were written as integers (`2`), not as doubles (`2.0`). Integers that a
 * double does not hold are no matter of this.
 */
export function parseNoting(text: string): unknown {
  return JSON.parse(text, recordMember);
}

/** A reviver; `this` is what has the member. */
function recordMember(this: object, ...[, value, context]: [string, unknown, { source?: string }?]): unknown {
  if (Number.isSafeInteger(value) && /^-?\d+$/.test(context?.source ?? '')) withIntegers.add(this);
  return value;
}

/** Whether a number that is part of a value made by `parseNoting` was written as an integer. */
export function hasWrittenInteger(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return withIntegers.has(value) || Object.values(value).some(hasWrittenInteger);
}
