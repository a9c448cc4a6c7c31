import { isJsonObject, type JsonValue } from '#core/json.ts';

/** Characters that Go's encoder escapes although JSON does not require it. */
const escapedCharacters = /[<>&\u2028\u2029]/g;

/**
 * Compact JSON exactly as Go's `encoding/json` writes it for a map: members sorted by the bytes of their keys, `<`, `>`, `&` and the two
 * Unicode line ends escaped, half surrogate pairs replaced by U+FFFD. kubectl stores manifests in this form, so equal manifests give equal
 * bytes whichever tool wrote them.
 */
export function formatGoJson(value: JsonValue): string {
  if (typeof value === 'string') return formatGoString(value);
  if (Array.isArray(value)) return `[${value.map(formatGoJson).join(',')}]`;
  if (!isJsonObject(value)) return JSON.stringify(value);
  const members = Object.entries(value)
    .sort(([left], [right]) => compareGoStrings(left, right))
    .map(([key, member]) => `${formatGoString(key)}:${formatGoJson(member)}`);
  return `{${members.join(',')}}`;
}

function formatGoString(text: string): string {
  const escapeCharacter = (character: string) =>
    `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return JSON.stringify(text.toWellFormed()).replace(escapedCharacters, escapeCharacter);
}

/**
 * Orders texts as Go does, by their UTF-8 bytes, which is the order of code points. JavaScript's `<` compares
 * UTF-16 units, where an emoji comes before U+E000 to U+FFFF.
 *
 * @returns negative, 0 or positive, as a comparator of `sort`
 */
export function compareGoStrings(left: string, right: string): number {
  if (left === right) return 0;
  const length = Math.min(left.length, right.length);
  for (let index = 0; index < length; index++) {
    const difference = rankUnit(left.charCodeAt(index)) - rankUnit(right.charCodeAt(index));
    if (difference !== 0) return difference;
  }
  return left.length - right.length;
}

/** Puts surrogates, which stand for code points above U+FFFF, behind all other UTF-16 units. */
function rankUnit(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit;
}
