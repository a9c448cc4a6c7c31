import type { JsonValue } from './json.ts';

/**
 * A JSON text with a number that is too large for a double, such as `1e400`: neither we nor an API server can say what it is.
 */
export class JsonNumberError extends Error {
  override name = 'JsonNumberError';

  constructor() {
    super('holds a number that is too large');
  }
}

/** How many digits an integer has at least that a double may not hold. */
export const longDigitsMin = 16;

/**
 * Reads JSON as `JSON.parse` does, but for integers beyond 2^53 - 1 on either side: these are bigints and keep each digit. It takes
 * about seven times as long, so it is for texts that may hold such numbers: `parseBoundedJson` looks.
 *
 * @throws JsonNumberError, or SyntaxError for what is no JSON
 */
export function reviveNumbers(text: string): JsonValue {
  return JSON.parse(text, reviveNumber) as JsonValue;
}

/** The source text is standard ECMAScript (Node 22+) that TypeScript's library does not declare yet. */
function reviveNumber(_key: string, value: unknown, context?: { readonly source?: string }): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value)) return value;
  if (!Number.isFinite(value)) throw new JsonNumberError();
  const { source = '' } = context ?? {};
  return /^-?\d+$/.test(source) ? BigInt(source) : value;
}
