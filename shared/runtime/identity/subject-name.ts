/** Longest distinguished name that is read, in characters. */
export const subjectLengthMax = 4096;

/** One part of a distinguished name. Parts of several values (`CN=a+OU=b`) are several parts. */
export interface SubjectPart {
  /** Attribute in upper case: `CN`. */
  readonly attribute: string;
  /** Value without escapes and without spaces around it. */
  readonly value: string;
}

/** Who a certificate is for: the parts of its distinguished name, in the order of the text. */
export type SubjectName = readonly SubjectPart[];

/**
 * Reads a distinguished name as RFC 4514 writes it: `CN=gate,OU=spinnaker,O=Example`. Spaces around `,` and `=` mean nothing; `\,` and
 * `\2C` stand for a comma; a value may stand in quotation marks.
 *
 * @returns undefined for what is none, or is longer than `subjectLengthMax`.
 */
export function parseSubjectName(text: string): SubjectName | undefined {
  if (text.length > subjectLengthMax) return undefined;
  const pieces = splitAtSeparators(text);
  const parts = pieces?.map(parsePart) ?? [];
  return parts.length > 0 && parts.every((part) => part !== undefined) ? parts : undefined;
}

/**
 * Whether two names are the same: attributes without case, values letter by letter. One may begin with the country and the other with
 * the common name, for tools write them either way round.
 */
export function isSameSubject(one: SubjectName, other: SubjectName): boolean {
  const wanted = toKey(other);
  return toKey(one) === wanted || toKey(one.toReversed()) === wanted;
}

/** The common name; undefined when there is none, or several of which nobody can tell which counts. */
export function findCommonName(subject: SubjectName): string | undefined {
  const names = subject.filter(({ attribute }) => attribute === 'CN');
  return names.length === 1 ? names[0]?.value : undefined;
}

function toKey(subject: SubjectName): string {
  return JSON.stringify(subject.map(({ attribute, value }) => [attribute, value]));
}

/** The texts between commas, semicolons and plus signs that are neither escaped nor quoted; undefined when something is left open. */
function splitAtSeparators(text: string): readonly string[] | undefined {
  const pieces: string[] = [];
  let start = 0;
  let isQuoted = false;
  let index = 0;
  for (; index < text.length; index += 1) {
    const character = text[index] ?? '';
    if (character === '\\') index += 1;
    else if (character === '"') isQuoted = !isQuoted;
    else if (!isQuoted && ',;+'.includes(character)) {
      pieces.push(text.slice(start, index));
      start = index + 1;
    }
  }
  // Beyond the end: the text ends with an escape that escapes nothing.
  return isQuoted || index > text.length ? undefined : [...pieces, text.slice(start)];
}

function parsePart(piece: string): SubjectPart | undefined {
  const at = piece.indexOf('=');
  const attribute = piece.slice(0, Math.max(0, at)).trim().toUpperCase();
  const value = removeEscapes(trimValue(piece.slice(at + 1)));
  return /^[A-Z0-9.-]+$/.test(attribute) && value ? { attribute, value } : undefined;
}

/** Without the spaces around it, but for an escaped one at its end, and without quotation marks. */
function trimValue(text: string): string {
  const begun = text.trimStart();
  const ended = begun.trimEnd();
  const isSpaceEscaped = ended.length < begun.length && endsWithEscape(ended);
  const value = isSpaceEscaped ? `${ended} ` : ended;
  return value.length > 1 && value.startsWith('"') && value.endsWith('"') ? value.slice(1, -1) : value;
}

/** Whether an odd number of backslashes stands at the end. */
function endsWithEscape(text: string): boolean {
  let count = 0;
  while (text[text.length - 1 - count] === '\\') count += 1;
  return count % 2 === 1;
}

/** The value without escapes; undefined when they are no UTF-8, or leave a control character. */
function removeEscapes(text: string): string | undefined {
  const bytes = text.replaceAll(/(?:\\[0-9a-f]{2})+|\\(.)/gis, (escaped, character: string | undefined) =>
    character === undefined ? Buffer.from(escaped.replaceAll('\\', ''), 'hex').toString('utf8') : character,
  );
  return /[\p{Cc}\ufffd]/u.test(bytes) ? undefined : bytes;
}
