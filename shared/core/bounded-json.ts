import {
  findNumberEnd,
  isLongNumber,
  isOddNumber,
  type NumberSpan,
  parseWithLongNumbers,
  parseWithNumbers,
} from './exact-json.ts';
// Not only for its types: it also defines how parsed bigints are written.
import './json.ts';
import type { JsonValue } from './json.ts';

/** Limits of a JSON text from outside. */
export interface JsonBounds {
  /** Levels of nested objects and arrays; a scalar has none. */
  readonly depthMax: number;
  /** Members, elements, objects and arrays, all levels together: they determine a value's memory, not its bytes. */
  readonly valuesMax: number;
  /** Members of one object. Default: any number. */
  readonly membersMax?: number;
}

/** A JSON value and its size. */
export interface BoundedJson {
  readonly value: JsonValue;
  /** Number of values, as in `JsonBounds.valuesMax`. */
  readonly values: number;
}

/** A JSON text that exceeds a bound. The message names it. */
export class JsonBoundsError extends Error {
  override name = 'JsonBoundsError';
  /** The bound that it exceeds. */
  readonly bound: keyof JsonBounds;

  constructor(bound: keyof JsonBounds, most: number) {
    super(describe[bound](most));
    this.bound = bound;
  }
}

const describe: { readonly [bound in keyof JsonBounds]-?: (most: number) => string } = {
  depthMax: (most) => `is nested deeper than ${most} levels`,
  valuesMax: (most) => `has more than ${most} values`,
  membersMax: (most) => `has an object of more than ${most} members`,
};

const quote = 0x22;
const comma = 0x2c;
const backslash = 0x5c;
/** Distinguishes `[` from `{` and `]` from `}`: otherwise their codes are equal. */
const curlyBit = 0x20;
const opening = 0x7b;
const openingSquare = 0x5b;
const closing = 0x7d;
const zero = 0x30;
const nine = 0x39;

/**
 * Reads a JSON text, and checks its bounds first: one pass over the text, which stores nothing. Integers beyond 2^53 - 1 on either side
 * become bigints, which keep every digit.
 *
 * @throws JsonBoundsError, JsonNumberError for a number that no double holds, or SyntaxError for what is no JSON
 */
export function parseBoundedJson(text: string, bounds: JsonBounds): BoundedJson {
  const { values, numbers } = scanJson(text, bounds, isLongNumber);
  return { value: parseWithLongNumbers(text, numbers), values };
}

/** The same for a text that is known to be within all bounds, as we wrote it ourselves. @throws JsonNumberError or SyntaxError */
export function parseExactJson(text: string): unknown {
  return parseBoundedJson(text, { depthMax: Number.POSITIVE_INFINITY, valuesMax: Number.POSITIVE_INFINITY })
    .value;
}

/**
 * Reads a JSON text so that `JSON.stringify` writes each number as in the text: `2.0` stays `2.0`, which has another type than `2` in Java.
 * Numbers that JavaScript would write differently become objects that only `JSON.stringify` can use.
 *
 * @throws JsonBoundsError, or SyntaxError for what is no JSON
 */
export function parseVerbatimJson(text: string, bounds: JsonBounds): JsonValue {
  return parseWithNumbers(text, scanJson(text, bounds, isOddNumber).numbers, rawJson);
}

/** Standard ECMAScript (Node 22+) that TypeScript's library does not declare yet. */
const { rawJSON: rawJson } = JSON as unknown as { rawJSON(text: string): JsonValue };

interface JsonScan {
  readonly values: number;
  /** The numbers in question. */
  readonly numbers: readonly NumberSpan[];
}

function scanJson(
  text: string,
  { depthMax, valuesMax, membersMax }: JsonBounds,
  isWanted: (text: string, span: NumberSpan) => boolean,
): JsonScan {
  const members = membersMax === undefined ? undefined : new MemberCounts(membersMax);
  const numbers: NumberSpan[] = [];
  let depth = 0;
  let values = 1;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code === quote) index = findStringEnd(text, index);
    else if (code === comma) {
      values += 1;
      members?.add();
    }
    // Most of the rest is numbers and white space.
    else if (code < openingSquare) {
      if (code < zero || code > nine) continue;
      const span = { start: index, end: findNumberEnd(text, index + 1) };
      if (isWanted(text, span)) numbers.push(span);
      // Each is a value, unless this is no JSON.
      if (numbers.length > valuesMax) throw new JsonBoundsError('valuesMax', valuesMax);
      index = span.end - 1;
    } else if ((code | curlyBit) === closing) {
      depth -= 1;
      members?.close();
    } else if ((code | curlyBit) === opening) {
      values += 1;
      depth += 1;
      members?.open(code === opening);
      if (depth > depthMax) throw new JsonBoundsError('depthMax', depthMax);
    }
  }
  if (values > valuesMax) throw new JsonBoundsError('valuesMax', valuesMax);
  return { values, numbers };
}

/** Counts the members of the open objects. */
class MemberCounts {
  readonly #most: number;
  /** By level; NaN for arrays. */
  readonly #open: number[] = [];

  constructor(most: number) {
    this.#most = most;
  }

  open(isObject: boolean): void {
    this.#open.push(isObject ? 1 : Number.NaN);
  }

  close(): void {
    this.#open.pop();
  }

  /** @throws JsonBoundsError */
  add(): void {
    const count = (this.#open.pop() ?? 0) + 1;
    if (count > this.#most) throw new JsonBoundsError('membersMax', this.#most);
    this.#open.push(count);
  }
}

/** The end of the string that begins at `start`; the text's end for an unclosed one. Most of a text is in strings. */
function findStringEnd(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let before = end - 1;
    while (text.charCodeAt(before) === backslash) before -= 1;
    // Two backslashes are an escaped one: after an even number of them the quote ends the string.
    if ((end - before) % 2 === 1) return end;
  }
  return text.length;
}
