import type { Clock } from '#core/clock.ts';
import type { ObjectChange } from '../writer/object-change.ts';

/** The options of gathering changes. */
export interface GatheredWritesOptions<Facts> {
  readonly clock: Clock;
  /** Writes changes, one call at a time. */
  readonly write: (changes: readonly ObjectChange<Facts>[]) => Promise<void>;
  /** How long a change waits for others, milliseconds; called when the first one comes. Default: 50. */
  readonly getDelayMs?: (() => number) | undefined;
  /** This many are written without waiting for more. Default: 500. */
  readonly most?: number | undefined;
}

const defaultDelayMs = 50;
const defaultMost = 500;

interface Batch<Facts> {
  readonly changes: readonly ObjectChange<Facts>[];
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Gathers changes that several watches report at about the same time: a server group and its pods are then written together, and changes
 * that come during a write wait for the next one together.
 */
export class GatheredWrites<Facts> {
  readonly #options: GatheredWritesOptions<Facts>;
  #batches: Batch<Facts>[] = [];
  #count = 0;
  #isBusy = false;
  #enough = new AbortController();

  constructor(options: GatheredWritesOptions<Facts>) {
    this.#options = options;
  }

  /** Resolves when these are written. @throws what `write` throws */
  write(changes: readonly ObjectChange<Facts>[]): Promise<void> {
    const written = new Promise<void>((resolve, reject) => {
      this.#batches.push({ changes, resolve, reject });
    });
    this.#count += changes.length;
    if (this.#count >= (this.#options.most ?? defaultMost)) this.#enough.abort();
    if (!this.#isBusy) void this.#session();
    return written;
  }

  async #session(): Promise<void> {
    this.#isBusy = true;
    const { clock, getDelayMs } = this.#options;
    await clock.sleep(getDelayMs?.() ?? defaultDelayMs, this.#enough.signal).catch(() => undefined);
    while (this.#batches.length > 0) {
      const batches = this.#batches;
      this.#batches = [];
      this.#count = 0;
      this.#enough = new AbortController();
      await this.#writeAll(batches);
    }
    this.#isBusy = false;
  }

  async #writeAll(batches: readonly Batch<Facts>[]): Promise<void> {
    try {
      await this.#options.write(batches.flatMap(({ changes }) => changes));
      for (const { resolve } of batches) resolve();
    } catch (error) {
      for (const { reject } of batches) reject(error);
    }
  }
}
