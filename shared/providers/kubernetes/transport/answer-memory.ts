import {
  AnswerLimitError,
  largeAnswerMs,
  largeAnswersMax,
  largeAnswersOfAccountMax,
} from '../api/answer-limits.ts';

/** How much memory there is. */
export interface MemorySize {
  /** Places in total, and the most for one account. */
  readonly places: number;
  readonly placesOfAccount: number;
  /** While others wait, a place held for this long is taken away, milliseconds. */
  readonly holdMs: number;
}

/** A place for a large answer. */
export interface AnswerPlace {
  /** Called when the answer is complete: from then on the place is not taken away. */
  settle(): void;
  /** Gives it back; further calls do nothing. */
  release(): void;
}

/** An answer that needs a place. */
interface Guest {
  readonly account: string;
  readonly onEvicted: (error: AnswerLimitError) => void;
  readonly onPlaced: (place: AnswerPlace) => void;
}

interface Placed extends Guest {
  readonly sinceMs: number;
  isSettled: boolean;
}

/**
 * Room for the large answers of all accounts: only so many are read at a time, which bounds their total memory. A waiting answer makes its
 * server wait; among waiting ones the account with the fewest places comes first. A slow server loses its place to others, so that slow
 * ones cannot keep all places.
 */
export class AnswerMemory {
  readonly #size: MemorySize;
  readonly #placed = new Set<Placed>();
  readonly #waiting = new Set<Guest>();
  #timer: NodeJS.Timeout | undefined;

  constructor(size: MemorySize) {
    this.#size = size;
  }

  /** Answers that have a place. */
  get taken(): number {
    return this.#placed.size;
  }

  /**
   * Asks for a place.
   *
   * @param onPlaced called once with the place, perhaps at once
   * @param onEvicted called when the place is taken away before it is settled: the answer must be abandoned
   * @returns cancels the request
   */
  enter(guest: Guest): () => void {
    this.#waiting.add(guest);
    this.#fill();
    return () => this.#waiting.delete(guest);
  }

  #fill(): void {
    while (this.#placed.size < this.#size.places) {
      const next = this.#chooseNext();
      if (next === undefined) break;
      this.#waiting.delete(next);
      this.#place(next);
    }
    this.#planEviction();
  }

  #place(guest: Guest): void {
    const placed: Placed = { ...guest, sinceMs: performance.now(), isSettled: false };
    this.#placed.add(placed);
    guest.onPlaced({
      settle: () => {
        placed.isSettled = true;
      },
      release: () => {
        if (this.#placed.delete(placed)) this.#fill();
      },
    });
  }

  #chooseNext(): Guest | undefined {
    let chosen: Guest | undefined;
    let fewest = this.#size.placesOfAccount;
    for (const guest of this.#waiting) {
      const count = this.#countPlaces(guest.account);
      if (count >= fewest) continue;
      chosen = guest;
      fewest = count;
    }
    return chosen;
  }

  #countPlaces(account: string): number {
    let count = 0;
    for (const placed of this.#placed) if (placed.account === account) count += 1;
    return count;
  }

  /** Schedules the eviction of the oldest unfinished answer, while another account waits. */
  #planEviction(): void {
    clearTimeout(this.#timer);
    const oldest = this.#findOldest();
    if (oldest === undefined) return;
    const leftMs = oldest.sinceMs + this.#size.holdMs - performance.now();
    this.#timer = setTimeout(() => this.#evictOldest(), Math.max(leftMs, 0)).unref();
  }

  /** The oldest of the unfinished answers that block another account. */
  #findOldest(): Placed | undefined {
    const next = this.#chooseNext();
    if (next === undefined) return undefined;
    for (const placed of this.#placed) {
      if (!placed.isSettled && placed.account !== next.account) return placed;
    }
    return undefined;
  }

  #evictOldest(): void {
    const oldest = this.#findOldest();
    if (oldest === undefined) return;
    if (performance.now() - oldest.sinceMs >= this.#size.holdMs) {
      this.#placed.delete(oldest);
      const message = `came too slowly while the answers of others waited for memory (${this.#size.places} large answers at a time)`;
      oldest.onEvicted(new AnswerLimitError(message, true));
    }
    this.#fill();
  }
}

/** The memory of this process. */
export const answerMemory = new AnswerMemory({
  places: largeAnswersMax,
  placesOfAccount: largeAnswersOfAccountMax,
  holdMs: largeAnswerMs,
});
