/** MiB of everything that a process may remember: the least and the most that settings allow, and the default. */
export const rememberedMib = { least: 1, most: 1024, otherwise: 32 } as const;

/** Something that is remembered. */
interface Entry {
  readonly bytes: number;
  readonly forget: () => void;
  /** Whether it was used since {@link RememberedBytes.forgetUnused} was last called. */
  isUsed: boolean;
}

/**
 * The bytes of everything that a process remembers so that it need not ask again, from all its modules: the longest unused is forgotten
 * first. Each module estimates its bytes.
 */
export class RememberedBytes {
  readonly #bytesMax: number;
  /** By key; the last used comes last. */
  readonly #entries = new Map<object, Entry>();
  #bytes = 0;

  /** @param bytesMax limit of all together. Default: {@link rememberedMib} */
  constructor(bytesMax = rememberedMib.otherwise * 2 ** 20) {
    this.#bytesMax = bytesMax;
  }

  /** Bytes of everything remembered now. */
  get bytes(): number {
    return this.#bytes;
  }

  /**
   * Remembers something, replacing what had the same key, without a call of `forget` for that. An entry of more than half of the limit is
   * forgotten at once: it would drive out everything else.
   *
   * @param key an object that no other caller uses
   * @param forget called once, when it must be forgotten
   */
  keep(key: object, bytes: number, forget: () => void): void {
    this.drop(key);
    if (bytes > this.#bytesMax / 2) {
      forget();
      return;
    }
    this.#entries.set(key, { bytes, forget, isUsed: true });
    this.#bytes += bytes;
    for (const oldest of this.#entries.keys()) {
      if (this.#bytes <= this.#bytesMax) return;
      this.#forget(oldest);
    }
  }

  /** Marks an entry as used now. */
  use(key: object): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    entry.isUsed = true;
  }

  /** Removes an entry that its owner has forgotten. */
  drop(key: object): void {
    this.#bytes -= this.#entries.get(key)?.bytes ?? 0;
    this.#entries.delete(key);
  }

  /** Forgets what was not used since the last call. */
  forgetUnused(): void {
    for (const [key, entry] of this.#entries) {
      if (entry.isUsed) entry.isUsed = false;
      else this.#forget(key);
    }
  }

  #forget(key: object): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    this.#bytes -= entry.bytes;
    this.#entries.delete(key);
    entry.forget();
  }
}
