import { invalid } from './refusals.ts';

/** Reads an expression word by word. */
export class ExpressionTokens {
  /** What is read, for errors: `ConditionExpression`. */
  readonly #kind: string;
  readonly #tokens: readonly string[];
  #next = 0;

  /** @throws AwsError for characters that no expression may have */
  constructor(kind: string, text: string) {
    this.#kind = kind;
    this.#tokens = text.match(tokenPattern) ?? [];
    if (text.trim() === '') throw this.refuse('The expression can not be empty;');
    if (this.#tokens.join('') !== text.replaceAll(/\s+/g, '')) throw this.refuse('Syntax error');
  }

  /** The next token, which stays; undefined at the end. */
  get peeked(): string | undefined {
    return this.#tokens[this.#next];
  }

  /** Whether the next token is this word, in any case. It is read then. */
  takes(word: string): boolean {
    if (this.peeked?.toUpperCase() !== word) return false;
    this.#next += 1;
    return true;
  }

  /** Reads this word. @throws AwsError when another one is there */
  expect(word: string): void {
    if (!this.takes(word)) throw this.refuse(`Syntax error; token: ${this.peeked ?? '<EOF>'}, near: ${word}`);
  }

  /** Reads a token of a sort. @throws AwsError when another one is there */
  read(pattern: RegExp): string {
    const token = this.peeked;
    if (token === undefined || !pattern.test(token)) {
      throw this.refuse(`Syntax error; token: ${token ?? '<EOF>'}`);
    }
    this.#next += 1;
    return token;
  }

  /** Reads a list separated by commas. */
  readList<T>(readOne: () => T): T[] {
    const all = [readOne()];
    while (this.takes(',')) all.push(readOne());
    return all;
  }

  /** @throws AwsError when something is left */
  end(): void {
    if (this.peeked !== undefined) throw this.refuse(`Syntax error; token: ${this.peeked}`);
  }

  /** The refusal of this expression. */
  refuse(reason: string): Error {
    return invalid(`Invalid ${this.#kind}: ${reason}`);
  }
}

const tokenPattern = /[#:]?\w+|<>|<=|>=|[=<>(),+\-.[\]]/g;

/** The name of an attribute, or its placeholder. */
export const namePattern = /^#\w+$|^[A-Za-z]\w*$/;

/** The placeholder of a value. */
export const valuePattern = /^:\w+$/;
