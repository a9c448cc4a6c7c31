const firstCapacity = 256;

/** All bytes of a body; undefined for more than `bytesMax`, after which it is not read on. */
export async function gatherBytes(
  body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  bytesMax: number,
): Promise<Uint8Array | undefined> {
  const gathered = new GatheredBytes();
  for await (const piece of body) {
    gathered.add(piece);
    if (gathered.length > bytesMax) return undefined;
  }
  return gathered.take();
}

/**
 * Joins bytes that come in parts. It holds at most twice what was added, however small the parts are: a list of parts would cost a hundred
 * times as much when a server sends byte by byte.
 */
export class GatheredBytes {
  #bytes: Uint8Array = new Uint8Array(0);
  #length = 0;

  /** Bytes added since the last `take`. */
  get length(): number {
    return this.#length;
  }

  /** Adds a part. The first one is kept, not copied: do not write into it. */
  add(part: Uint8Array): void {
    const length = this.#length + part.length;
    if (this.#length === 0) {
      this.#bytes = part;
    } else {
      if (length > this.#bytes.length) this.#grow(length);
      this.#bytes.set(part, this.#length);
    }
    this.#length = length;
  }

  /** Returns all that was added, and forgets it. */
  take(): Uint8Array {
    const taken = this.#bytes.subarray(0, this.#length);
    this.#bytes = new Uint8Array(0);
    this.#length = 0;
    return taken;
  }

  #grow(length: number): void {
    const grown = new Uint8Array(Math.max(length, this.#bytes.length * 2, firstCapacity));
    grown.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = grown;
  }
}
