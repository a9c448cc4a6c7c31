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

/** Where a number stands in a text: from its first digit, after its sign, to before `end`. */
export interface NumberSpan {
  readonly start: number;
  readonly end: number;
}

/** Characters that a number has at least, sign aside, if it has no exponent and a double may not hold it. */
export const longNumberMin = 16;

/** The end of what looks like a number and begins before `index`. Whether it is one, JSON.parse finds out. */
export function findNumberEnd(text: string, index: number): number {
  let end = index;
  while (isNumberPart(text.charCodeAt(end))) end += 1;
  return end;
}

/** A digit, a point, a sign, or the letter of an exponent. */
function isNumberPart(code: number): boolean {
  return (
    (code >= 0x30 && code <= 0x39) || code === 0x2e || code === 0x2b || code === 0x2d || isExponent(code)
  );
}

function isExponent(code: number): boolean {
  return code === 0x65 || code === 0x45;
}

/** Whether a number may be one that a double does not hold. */
export function isLongNumber(text: string, { start, end }: NumberSpan): boolean {
  if (end - start >= longNumberMin) return true;
  for (let index = start; index < end; index += 1) if (isExponent(text.charCodeAt(index))) return true;
  return false;
}

/**
 * Reads JSON as `JSON.parse` does, but for integers beyond 2^53 - 1 on either side: these are bigints and keep each digit.
 *
 * Long numbers change places with tiny ones, of which no text can bring its own: who writes one that small needs an exponent or
 * hundreds of digits, so it is itself a long number and has changed places. When the text is read, they change back. A reviver with
 * `context.source` would do the same in five times the time and four times the memory.
 *
 * @param long all of the text that `isLongNumber` says are
 * @throws JsonNumberError, or SyntaxError for what is no JSON
 */
export function parseWithLongNumbers(text: string, long: readonly NumberSpan[]): JsonValue {
  const numbers: (number | bigint)[] = [];
  const pieces: string[] = [];
  let copied = 0;
  for (const { start, end } of long) {
    const source = text.slice(start, end);
    // Anything else is left to JSON.parse to refuse.
    if (!jsonNumber.test(source)) continue;
    numbers.push(readNumber(source));
    pieces.push(text.slice(copied, start), `${numbers.length}${standInExponent}`);
    copied = end;
  }
  pieces.push(text.slice(copied));
  return putBack(parseAs(pieces.join(''), text), numbers);
}

/** A number as JSON has it, without a sign. */
const jsonNumber = /^(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

function readNumber(source: string): number | bigint {
  const number = Number(source);
  if (!Number.isFinite(number)) throw new JsonNumberError();
  return Number.isSafeInteger(number) || !/^\d+$/.test(source) ? number : BigInt(source);
}

/** What the n-th long number is while the text is read: n times this. */
const standInExponent = 'e-310';
const standInUnit = 1e-310;
/** More than any of them, and less than any number that is none. */
const standInMax = 1e-300;

/** @throws SyntaxError as `JSON.parse(text)` does: about places in the text that was given */
function parseAs(changed: string, text: string): JsonValue {
  try {
    return JSON.parse(changed) as JsonValue;
  } catch {
    return JSON.parse(text) as JsonValue;
  }
}

/** The value with its numbers in the place of their stand-ins; it does not recurse, so no depth can exhaust the stack. */
function putBack(root: JsonValue, numbers: readonly (number | bigint)[]): JsonValue {
  const whole = [root];
  const open: (JsonValue[] | { [key: string]: JsonValue })[] = [whole];
  const exchange = (member: JsonValue): JsonValue => {
    if (typeof member === 'number') return findMeant(member, numbers);
    if (typeof member === 'object' && member !== null) open.push(member);
    return member;
  };
  for (let each = open.pop(); each !== undefined; each = open.pop()) exchangeMembers(each, exchange);
  return whole[0] ?? null;
}

/** Only members that change are written: in an object made by JSON.parse each is its own, be it `__proto__`. */
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

/** The number that a stand-in stands for; any other one is meant itself. */
function findMeant(number: number, numbers: readonly (number | bigint)[]): number | bigint {
  if (number === 0 || Math.abs(number) >= standInMax) return number;
  const meant = numbers[Math.round(Math.abs(number) / standInUnit) - 1] ?? number;
  return number < 0 ? -meant : meant;
}
