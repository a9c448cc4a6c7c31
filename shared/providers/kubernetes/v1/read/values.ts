import { asString, type JsonValue } from '#core/json.ts';
import { findNumber } from '../../api/unchecked.ts';

/** The texts of a list. */
export function listTexts(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}

/** A time in epoch milliseconds; undefined for anything else. */
export function findTime(value: JsonValue | undefined): number | undefined {
  const time = Date.parse(asString(value) ?? '');
  return Number.isNaN(time) ? undefined : time;
}

/** A flag, or undefined for anything else. */
export function findFlag(value: JsonValue | undefined): boolean | undefined {
  return typeof value === 'boolean' ? value : undefined;
}

/** A text, or a number as text, as in amounts; undefined for anything else. */
export function findAmount(value: JsonValue | undefined): string | undefined {
  const number = findNumber(value);
  return number === undefined ? asString(value) : String(number);
}

/** The value if it is one of these texts; undefined otherwise. */
export function findOneOf<Text extends string>(
  texts: readonly Text[],
  value: JsonValue | undefined,
): Text | undefined {
  return texts.find((text) => text === value);
}
