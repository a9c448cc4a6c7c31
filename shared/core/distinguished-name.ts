import { trimBlanks } from './blanks.ts';

/** Longest distinguished name that is read, in characters. */
export const distinguishedNameLengthMax = 4096;

/** One attribute of a distinguished name, and its value. */
export interface NameAttribute {
  /** Attribute type in upper case: `CN`. */
  readonly attribute: string;
  /** Value without escapes and without spaces around it. */
  readonly value: string;
}

/** One part of a distinguished name: an attribute, or an unordered set of several (`CN=a+OU=b`). */
export type RelativeName = readonly NameAttribute[];

/** The subject of a certificate: the parts of its distinguished name, in the order of the text. */
export type DistinguishedName = readonly RelativeName[];

/**
 * Reads a distinguished name in the form of RFC 2253 and RFC 4514: `CN=gate,OU=spinnaker,O=Example`. Spaces around `,`, `+` and `=` are
 * ignored; `\,` and `\2C` mean a comma; a value may be in quotation marks.
 *
 * @returns undefined for anything else, or a text longer than {@link distinguishedNameLengthMax}.
 */
export function parseDistinguishedName(text: string): DistinguishedName | undefined {
  if (text.length > distinguishedNameLengthMax) return undefined;
  const parts = splitAt(text, ',;')?.map(parsePart) ?? [];
  return parts.length > 0 && parts.every((part) => part !== undefined) ? parts : undefined;
}

/**
 * Whether two names are the same: the same parts in the same order, attribute types without case, values letter by letter. The attributes
 * of one part may be in any order: they are a set in X.501.
 */
export function isSameDistinguishedName(one: DistinguishedName, other: DistinguishedName): boolean {
  return toKey(one) === toKey(other);
}

function toKey(name: DistinguishedName): string {
  return JSON.stringify(
    name.map((part) => part.map(({ attribute, value }) => JSON.stringify([attribute, value])).sort()),
  );
}

/** The texts between separators that are neither escaped nor quoted; undefined when something is left open. */
function splitAt(text: string, separators: string): readonly string[] | undefined {
  const pieces: string[] = [];
  let start = 0;
  let isQuoted = false;
  let index = 0;
  for (; index < text.length; index += 1) {
    const character = text[index] ?? '';
    if (character === '\\') index += 1;
    else if (character === '"') isQuoted = !isQuoted;
    else if (!isQuoted && separators.includes(character)) {
      pieces.push(text.slice(start, index));
      start = index + 1;
    }
  }
  // Beyond the end: the text ends with an escape of nothing.
  return isQuoted || index > text.length ? undefined : [...pieces, text.slice(start)];
}

function parsePart(piece: string): RelativeName | undefined {
  const attributes = splitAt(piece, '+')?.map(parseAttribute) ?? [];
  return attributes.every((each) => each !== undefined) && attributes.length > 0 ? attributes : undefined;
}

function parseAttribute(piece: string): NameAttribute | undefined {
  const at = piece.indexOf('=');
  const attribute = trimBlanks(piece.slice(0, Math.max(0, at))).toUpperCase();
  const value = removeEscapes(trimValue(piece.slice(at + 1)));
  return /^[A-Z0-9.-]+$/.test(attribute) && value ? { attribute, value } : undefined;
}

/** A value without the spaces around it, except for an escaped one at its end, and without quotation marks. */
function trimValue(text: string): string {
  const trimmed = trimBlanks(text);
  const isSpaceEscaped = !text.endsWith(trimmed) && endsWithEscape(trimmed);
  const value = isSpaceEscaped ? `${trimmed} ` : trimmed;
  return value.length > 1 && value.startsWith('"') && value.endsWith('"') ? value.slice(1, -1) : value;
}

/** Whether a text ends with an odd number of backslashes. */
function endsWithEscape(text: string): boolean {
  let count = 0;
  while (text[text.length - 1 - count] === '\\') count += 1;
  return count % 2 === 1;
}

/** The value without escapes; undefined when these are no UTF-8, or leave a control character. */
function removeEscapes(text: string): string | undefined {
  const bytes = text.replaceAll(/(?:\\[0-9a-f]{2})+|\\(.)/gis, (escaped, character: string | undefined) =>
    character === undefined ? Buffer.from(escaped.replaceAll('\\', ''), 'hex').toString('utf8') : character,
  );
  return /[\p{Cc}\ufffd]/u.test(bytes) ? undefined : bytes;
}
