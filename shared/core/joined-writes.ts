interface JoinedWritesOptions<V, R> {
  /** Joins two values into one that is written at once. */
  join(first: V, second: V): V;
  write(key: string, value: V): Promise<R>;
}

/** A value that waits until the write before it has ended. */
interface Waiting<V, R> {
  value: V;
  readonly written: Promise<R>;
}

/**
 * Writes one value of a key at a time: values that come meanwhile are joined, and written together after it. So writers of one process
 * never compete, and any number of them takes two writes.
 */
export class JoinedWrites<V, R> {
  readonly #options: JoinedWritesOptions<V, R>;
  readonly #begun = new Map<string, Promise<R>>();
  readonly #waiting = new Map<string, Waiting<V, R>>();

  constructor(options: JoinedWritesOptions<V, R>) {
    this.#options = options;
  }

  /** @returns the result of the write that included the value @throws what that write throws */
  write(key: string, value: V): Promise<R> {
    const waiting = this.#waiting.get(key);
    if (waiting !== undefined) {
      waiting.value = this.#options.join(waiting.value, value);
      return waiting.written;
    }
    const begun = this.#begun.get(key);
    if (begun === undefined) return this.#begin(key, value);
    const next: Waiting<V, R> = {
      value,
      written: begun.then(
        () => this.#beginNext(key, next),
        () => this.#beginNext(key, next),
      ),
    };
    this.#waiting.set(key, next);
    return next.written;
  }

  #beginNext(key: string, next: Waiting<V, R>): Promise<R> {
    this.#waiting.delete(key);
    return this.#begin(key, next.value);
  }

  async #begin(key: string, value: V): Promise<R> {
    const written = this.#options.write(key, value);
    this.#begun.set(key, written);
    try {
      return await written;
    } finally {
      if (this.#begun.get(key) === written) this.#begun.delete(key);
    }
  }
}
