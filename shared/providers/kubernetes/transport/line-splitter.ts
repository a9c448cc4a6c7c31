import { GatheredBytes } from '#core/gathered-bytes.ts';

const newline = 0x0a;
/** Like `Buffer.toString`: a byte order mark is an ordinary character. */
const textDecoder = new TextDecoder('utf-8', { ignoreBOM: true });

/** A line is longer than allowed. */
export class LineTooLongError extends Error {
  override name = 'LineTooLongError';
}

/** Splits a stream of bytes into lines, wherever its chunks begin and end: a line, or a character in it, may span any number of them. */
export class LineSplitter {
  readonly #maximumBytes: number;
  readonly #pending = new GatheredBytes();

  /** @param maximumBytes of one line */
  constructor(maximumBytes: number) {
    this.#maximumBytes = maximumBytes;
  }

  /** Bytes of the line that is not yet complete. */
  get pendingBytes(): number {
    return this.#pending.length;
  }

  /**
   * The lines that end in this chunk, without line ends; empty ones are left out.
   *
   * @throws LineTooLongError
   */
  push(chunk: Buffer): string[] {
    const lines: string[] = [];
    let start = 0;
    for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, start)) {
      const line = this.#complete(chunk.subarray(start, end));
      if (line !== '') lines.push(line);
      start = end + 1;
    }
    if (start < chunk.length) this.#keep(chunk.subarray(start));
    return lines;
  }

  #complete(end: Buffer): string {
    if (this.#pending.length === 0) return this.#check(end).toString('utf8');
    this.#keep(end);
    return textDecoder.decode(this.#pending.take());
  }

  #keep(part: Buffer): void {
    this.#check(part);
    this.#pending.add(part);
  }

  #check(part: Buffer): Buffer {
    if (this.#pending.length + part.length <= this.#maximumBytes) return part;
    throw new LineTooLongError(`a line is longer than ${this.#maximumBytes} bytes`);
  }
}
