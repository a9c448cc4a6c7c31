/** Types of fields that our messages have. */
export type TextFieldType = 'string' | 'int64' | 'uint32';

/** A flat message: its fields, in the order of their numbers. */
export type TextSchema = { readonly [field: string]: TextFieldType };

/** A message with all its fields; those that were not given have their default, an empty text or 0. */
export type TextMessage<S extends TextSchema> = {
  readonly [field in keyof S]: S[field] extends 'string' ? string : number;
};

/** Characters of a message that are read. */
export const messageTextMax = 16_384;

/** A text is no message; its message says at which character, and what was expected. It repeats nothing of the text but a field's name. */
export class ProtobufTextError extends Error {
  override readonly name = 'ProtobufTextError';
}

const ranges = {
  int64: [Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER],
  uint32: [0, 0xffff_ffff],
} as const;

/**
 * Writes a message in the text format of Protocol Buffers, as `toString()` does in Java: a line for each field that has not its default,
 * and bytes beyond ASCII as octal escapes of their UTF-8.
 */
export function formatProtobufText<S extends TextSchema>(schema: S, message: TextMessage<S>): string {
  const lines = Object.keys(schema).flatMap((field) => {
    const value: string | number | undefined = message[field];
    if (value === undefined || value === '' || value === 0) return [];
    return [`${field}: ${typeof value === 'string' ? quote(value) : value}\n`];
  });
  return lines.join('');
}

/**
 * Reads a message in the text format of Protocol Buffers: fields in any order, each at most once, with comments, separators, texts in
 * parts, and numbers in decimal, octal or hexadecimal. It takes time in proportion to the length of the text.
 *
 * @throws ProtobufTextError for what is no such message, has a field that the message does not have, or a number out of its range; an
 *   int64 must be an integer that JavaScript has exactly
 */
export function parseProtobufText<S extends TextSchema>(schema: S, text: string): TextMessage<S> {
  if (text.length > messageTextMax)
    throw new ProtobufTextError(`it is longer than the ${messageTextMax} characters that are read`);
  const values = new Map<string, string | number>();
  const reader = new TextReader(text);
  while (!reader.isAtEnd()) {
    const field = reader.readName();
    const type = Object.hasOwn(schema, field) ? schema[field] : undefined;
    if (type === undefined)
      throw new ProtobufTextError(`it has a field '${field}', which the message does not have`);
    if (values.has(field)) throw new ProtobufTextError(`it has the field '${field}' twice`);
    reader.expectColon(field);
    values.set(field, type === 'string' ? reader.readText(field) : reader.readNumber(field, type));
    reader.skipSeparator();
  }
  const all = Object.entries(schema).map(([field, type]) => [
    field,
    values.get(field) ?? (type === 'string' ? '' : 0),
  ]);
  // Each field has what its type asks for.
  return Object.fromEntries(all) as TextMessage<S>;
}

const namePattern = /[A-Za-z_]\w{0,63}/y;
// One character or one comment at a time: nothing is tried twice.
const blankPattern = /(?:[ \t\r\n\v\f]|#[^\n]*)*/y;
const numberPattern = /(-?)[ \t]*(0[xX][0-9a-fA-F]{1,16}|0[0-7]{1,22}|0|[1-9]\d{0,19})(?![\w.])/y;

/** Goes through a text once, from its start to its end. */
class TextReader {
  readonly #text: string;
  #index = 0;

  constructor(text: string) {
    this.#text = text;
    this.#skipBlank();
  }

  isAtEnd(): boolean {
    return this.#index >= this.#text.length;
  }

  /** @throws ProtobufTextError */
  readName(): string {
    const name = this.#match(namePattern)?.[0];
    if (name === undefined || /\w/.test(this.#text[this.#index] ?? ''))
      throw this.#explain('the name of a field');
    this.#skipBlank();
    return name;
  }

  /** @throws ProtobufTextError */
  expectColon(field: string): void {
    if (this.#text[this.#index] !== ':') throw this.#explain(`':' after '${field}'`);
    this.#index += 1;
    this.#skipBlank();
  }

  /** Fields may end in one comma or semicolon. */
  skipSeparator(): void {
    const next = this.#text[this.#index];
    if (next !== ',' && next !== ';') return;
    this.#index += 1;
    this.#skipBlank();
  }

  /** Texts that follow each other are one. @throws ProtobufTextError, also for bytes that are no UTF-8 */
  readText(field: string): string {
    const parts: Buffer[] = [];
    while (this.#isAtQuote()) {
      parts.push(this.#readQuoted(field));
      this.#skipBlank();
    }
    if (parts.length === 0) throw this.#explain(`a text in quotes for '${field}'`);
    try {
      return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.concat(parts));
    } catch {
      throw new ProtobufTextError(`its '${field}' is no UTF-8`);
    }
  }

  /** @throws ProtobufTextError */
  readNumber(field: string, type: keyof typeof ranges): number {
    const found = this.#match(numberPattern);
    if (found === undefined) throw this.#explain(`a whole number for '${field}'`);
    const [, sign = '', digits = ''] = found;
    const value = Number(toDecimal(digits)) * (sign === '-' ? -1 : 1);
    const [least, most] = ranges[type];
    if (value < least || value > most)
      throw new ProtobufTextError(`its '${field}' must be from ${least} to ${most}`);
    this.#skipBlank();
    return value === 0 ? 0 : value;
  }

  #isAtQuote(): boolean {
    const next = this.#text[this.#index];
    return next === '"' || next === "'";
  }

  #readQuoted(field: string): Buffer {
    const bytes: Buffer[] = [];
    const end = this.#text[this.#index] ?? '';
    const plain = end === '"' ? /[^"\\\n]+/y : /[^'\\\n]+/y;
    this.#index += 1;
    for (;;) {
      const run = this.#match(plain)?.[0];
      if (run !== undefined) bytes.push(Buffer.from(run));
      const next = this.#text[this.#index];
      if (next !== '\\' && next !== end) throw this.#explain(`the end of the text of '${field}'`);
      this.#index += 1;
      if (next === end) return Buffer.concat(bytes);
      bytes.push(this.#readEscape(field));
    }
  }

  #readEscape(field: string): Buffer {
    const simple = simpleEscapes.get(this.#text[this.#index] ?? '');
    if (simple !== undefined) {
      this.#index += 1;
      return Buffer.from(simple);
    }
    for (const { pattern, toBytes } of numericEscapes) {
      const digits = this.#match(pattern)?.[1];
      const bytes = digits === undefined ? undefined : toBytes(digits);
      if (bytes !== undefined) return bytes;
    }
    throw this.#explain(`a known escape in the text of '${field}'`);
  }

  #skipBlank(): void {
    this.#match(blankPattern);
  }

  #match(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = this.#index;
    const found = pattern.exec(this.#text) ?? undefined;
    if (found !== undefined) this.#index = pattern.lastIndex;
    return found;
  }

  #explain(expected: string): ProtobufTextError {
    return new ProtobufTextError(`at character ${this.#index + 1} ${expected} is expected`);
  }
}

/** A leading zero means octal, as in C. */
function toDecimal(digits: string): bigint {
  if (/^0[0-7]/.test(digits)) return BigInt(`0o${digits.slice(1)}`);
  return BigInt(digits);
}

const simpleEscapes: ReadonlyMap<string, string> = new Map([
  ['a', '\x07'],
  ['b', '\b'],
  ['f', '\f'],
  ['n', '\n'],
  ['r', '\r'],
  ['t', '\t'],
  ['v', '\v'],
  ['\\', '\\'],
  ["'", "'"],
  ['"', '"'],
  ['?', '?'],
]);

/** Escapes by number: of a byte, or of a character. */
const numericEscapes: readonly {
  readonly pattern: RegExp;
  toBytes(digits: string): Buffer | undefined;
}[] = [
  { pattern: /([0-7]{1,3})/y, toBytes: (digits) => toByte(Number.parseInt(digits, 8)) },
  { pattern: /[xX]([0-9a-fA-F]{1,2})/y, toBytes: (digits) => toByte(Number.parseInt(digits, 16)) },
  { pattern: /u([0-9a-fA-F]{4})/y, toBytes: (digits) => toCharacter(Number.parseInt(digits, 16)) },
  { pattern: /U([0-9a-fA-F]{8})/y, toBytes: (digits) => toCharacter(Number.parseInt(digits, 16)) },
];

function toByte(value: number): Buffer | undefined {
  return value > 0xff ? undefined : Buffer.of(value);
}

function toCharacter(code: number): Buffer | undefined {
  const isCharacter = code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
  return isCharacter ? Buffer.from(String.fromCodePoint(code)) : undefined;
}

const escapedBytes: ReadonlyMap<number, string> = new Map([
  [0x0a, '\\n'],
  [0x0d, '\\r'],
  [0x09, '\\t'],
  [0x22, '\\"'],
  [0x27, "\\'"],
  [0x5c, '\\\\'],
]);

function quote(text: string): string {
  const characters = Array.from(Buffer.from(text), (byte) => {
    const escaped = escapedBytes.get(byte);
    if (escaped !== undefined) return escaped;
    const isPlain = byte >= 0x20 && byte < 0x7f;
    return isPlain ? String.fromCharCode(byte) : `\\${byte.toString(8).padStart(3, '0')}`;
  });
  return `"${characters.join('')}"`;
}
