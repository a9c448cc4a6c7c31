import type { JsonValue } from './json.ts';

/** A JSON text with a number that is too large for a double, such as `1e400`: neither we nor an API server can represent it. */
export class JsonNumberError extends Error {
  override name = 'JsonNumberError';

  constructor() {
    super('holds a number that is too large');
  }
}

/** The place of a number in a text: from its first digit, after its sign, to before `end`. */
export interface NumberSpan {
  readonly start: number;
  readonly end: number;
}

/** Minimum characters, without sign, of a number without exponent that a double may not hold. */
export const longNumberMin = 16;

/** The end of what looks like a number and begins before `index`. JSON.parse decides whether it is one. */
export function findNumberEnd(text: string, index: number): number {
  let end = index;
  while (isNumberPart(text.charCodeAt(end))) end += 1;
  return end;
}

/** A digit, a point, a sign, or the letter of an exponent. */
function isNumberPart(code: number): boolean {
  return isDigit(code) || code === 0x2e || code === 0x2b || code === 0x2d || isExponent(code);
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

function isExponent(code: number): boolean {
  return code === 0x65 || code === 0x45;
}

/** Whether a number may be one that a double cannot hold. */
export function isLongNumber(text: string, { start, end }: NumberSpan): boolean {
  if (end - start >= longNumberMin) return true;
  for (let index = start; index < end; index += 1) if (isExponent(text.charCodeAt(index))) return true;
  return false;
}

/** Whether `JSON.stringify` may write a number differently from the text: `2.0`, `1e3`, `-0`, or one of many digits. */
export function isOddNumber(text: string, { start, end }: NumberSpan): boolean {
  if (end - start >= longNumberMin) return true;
  for (let index = start; index < end; index += 1) if (!isDigit(text.charCodeAt(index))) return true;
  return text[start] === '0' && text[start - 1] === '-';
}

/**
 * Reads JSON like `JSON.parse`, except that integers beyond 2^53 - 1 on either side become bigints, which keep every digit.
 *
 * @param long all numbers of the text for which `isLongNumber` is true
 * @throws JsonNumberError, or SyntaxError for what is no JSON
 */
export function parseWithLongNumbers(text: string, long: readonly NumberSpan[]): JsonValue {
  return parseWithNumbers(text, long, readNumber);
}

/**
 * Reads JSON like `JSON.parse`, except for some numbers.
 *
 * It replaces these by tiny numbers that no text can contain itself: a number that small needs an exponent or hundreds of digits, so it is
 * one of these and has been replaced. After parsing, they are replaced back. A reviver with `context.source` would do the same in five
 * times the time and four times the memory.
 *
 * @param spans all long numbers of the text, and others
 * @param read returns the value of a number from its text with its sign
 * @throws SyntaxError for what is no JSON, and what `read` throws
 */
export function parseWithNumbers(
  text: string,
  spans: readonly NumberSpan[],
  read: (source: string) => JsonValue,
): JsonValue {
  if (spans.length === 0) return JSON.parse(text) as JsonValue;
  const sources: string[] = [];
  const pieces: string[] = [];
  let copied = 0;
  for (const { start, end } of spans) {
    const source = text.slice(start, end);
    // JSON.parse refuses anything else.
    if (!jsonNumber.test(source)) continue;
    sources.push(source);
    pieces.push(text.slice(copied, start), `${sources.length}${standInExponent}`);
    copied = end;
  }
  pieces.push(text.slice(copied));
  return putBack(parseAs(pieces.join(''), text), (number) => {
    if (number === 0 || Math.abs(number) >= standInMax) return number;
    const source = sources[Math.round(Math.abs(number) / standInUnit) - 1];
    if (source === undefined) return number;
    return read(number < 0 ? `-${source}` : source);
  });
}

/** A number in JSON, without a sign. */
const jsonNumber = /^(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

function readNumber(source: string): number | bigint {
  const number = Number(source);
  if (!Number.isFinite(number)) throw new JsonNumberError();
  return Number.isSafeInteger(number) || !/^-?\d+$/.test(source) ? number : BigInt(source);
}

/** The n-th number is n times this during parsing. */
const standInExponent = 'e-310';
const standInUnit = 1e-310;
/** Greater than any of them, and less than any other number. */
const standInMax = 1e-300;

/** @throws SyntaxError like `JSON.parse(text)`: with positions in the given text */
function parseAs(changed: string, text: string): JsonValue {
  try {
    return JSON.parse(changed) as JsonValue;
  } catch {
    return JSON.parse(text) as JsonValue;
  }
}

/** The value with its own numbers again; it does not recurse, so no depth can exhaust the stack. */
function putBack(root: JsonValue, findMeant: (number: number) => JsonValue): JsonValue {
  const whole = [root];
  const open: (JsonValue[] | { [key: string]: JsonValue })[] = [whole];
  const exchange = (member: JsonValue): JsonValue => {
    if (typeof member === 'number') return findMeant(member);
    if (typeof member === 'object' && member !== null) open.push(member);
    return member;
  };
  for (let each = open.pop(); each !== undefined; each = open.pop()) exchangeMembers(each, exchange);
  return whole[0] ?? null;
}

/** Writes only members that change: in an object from JSON.parse each is its own, even `__proto__`. */
function exchangeMembers(
  holder: JsonValue[] | { [key: string]: JsonValue },
  exchange: (member: JsonValue) => JsonValue,
): void {
  if (Array.isArray(holder)) {
    for (const [index, member] of holder.entries()) {
      const meant = exchange(member);
      if (meant !== member) holder[index] = meant;
    }
    return;
  }
  for (const key of Object.keys(holder)) {
    const member = holder[key] as JsonValue;
    const meant = exchange(member);
    if (meant !== member) holder[key] = meant;
  }
}
