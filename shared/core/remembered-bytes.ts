/** MiB that all that a process remembers may take: the least and the most that can be asked for, and what holds otherwise. */
export const rememberedMib = { least: 1, most: 1024, otherwise: 32 } as const;

/** Something that is remembered. */
interface Entry {
  readonly bytes: number;
  readonly forget: () => void;
  /** Whether it was used since {@link RememberedBytes.forgetUnused} was last called. */
  isUsed: boolean;
}

/**
 * The bytes of everything that a process remembers so that it need not ask again, whoever remembers it: what was not used for longest is
 * forgotten first. Bytes are estimated by whoever remembers.
 */
export class RememberedBytes {
  readonly #bytesMax: number;
  /** By whatever stands for it; what was used last comes last. */
  readonly #entries = new Map<object, Entry>();
  #bytes = 0;

  /** @param bytesMax of all together. Default: {@link rememberedMib} */
  constructor(bytesMax = rememberedMib.otherwise * 2 ** 20) {
    this.#bytesMax = bytesMax;
  }

  /** Of all that is remembered now. */
  get bytes(): number {
    return this.#bytes;
  }

  /**
   * Has something remembered, in the place of what was remembered by the same key, which is not told. What would take more than half
   * of all is forgotten at once, or else it would drive out everything.
   *
   * @param key an object, and nobody else's
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

  /** Notes that something is used now. */
  use(key: object): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    entry.isUsed = true;
  }

  /** No longer counts what its owner forgot. */
  drop(key: object): void {
    this.#bytes -= this.#entries.get(key)?.bytes ?? 0;
    this.#entries.delete(key);
  }

  /** Forgets what was not used since this was last called. */
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
