const newline = 0x0a;

/** A line is longer than allowed. */
export class LineTooLongError extends Error {
  override name = 'LineTooLongError';
}

/**
 * Cuts a stream of bytes into lines, wherever its chunks begin and end: a line, or a character of it, may be spread over any
 * number of them.
 */
export class LineSplitter {
  readonly #maximumBytes: number;
  #pending: Buffer[] = [];
  #pendingBytes = 0;

  /** @param maximumBytes of one line */
  constructor(maximumBytes: number) {
    this.#maximumBytes = maximumBytes;
  }

  /** Bytes of a line whose end has not come. */
  get pendingBytes(): number {
    return this.#pendingBytes;
  }

  /**
   * The lines that end in this chunk, without their ends; empty ones are left out.
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
    if (this.#pendingBytes === 0) return end.toString('utf8');
    this.#keep(end);
    const line = Buffer.concat(this.#pending, this.#pendingBytes).toString('utf8');
    this.#pending = [];
    this.#pendingBytes = 0;
    return line;
  }

  #keep(part: Buffer): void {
    this.#pendingBytes += part.length;
    if (this.#pendingBytes > this.#maximumBytes) {
      throw new LineTooLongError(`a line is longer than ${this.#maximumBytes} bytes`);
    }
    this.#pending.push(part);
  }
}
