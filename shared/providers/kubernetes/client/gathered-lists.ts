import { AnswerLimitError, gatheredBytesMax, gatheredListBytesMax } from '../api/answer-limits.ts';

/** How much gathered lists may hold, bytes of JSON. */
export interface GatheringLimits {
  readonly listBytesMax: number;
  readonly totalBytesMax: number;
}

/** A list that is being gathered. */
export interface GatheredList {
  /** Counts a part of it. @throws AnswerLimitError if it becomes too large, or must yield its memory to others */
  add(bytes: number): void;
  /** Starts counting at zero again: what was gathered is dropped. */
  reset(): void;
  /** Called when it is handed over, or given up: it does not count any more. */
  end(): void;
}

interface Gathering {
  readonly account: string;
  /** Drops what was gathered. */
  readonly onEvicted: () => void;
  bytes: number;
  error: AnswerLimitError | undefined;
}

/**
 * Counts the memory of lists that are gathered as a whole. If the total becomes too large, the account that holds most loses its largest
 * list: accounts with small lists do not suffer from those with large ones.
 */
export class GatheredLists {
  readonly #limits: GatheringLimits;
  readonly #gatherings = new Set<Gathering>();

  constructor(limits: GatheringLimits) {
    this.#limits = limits;
  }

  /** Bytes that are held now. */
  get bytes(): number {
    let sum = 0;
    for (const { bytes } of this.#gatherings) sum += bytes;
    return sum;
  }

  /** Begins a list. @param onEvicted drops what was gathered; the next `add` throws */
  begin(account: string, onEvicted: () => void): GatheredList {
    const gathering: Gathering = { account, onEvicted, bytes: 0, error: undefined };
    this.#gatherings.add(gathering);
    return {
      add: (bytes) => this.#add(gathering, bytes),
      reset: () => {
        gathering.bytes = 0;
      },
      end: () => {
        this.#gatherings.delete(gathering);
      },
    };
  }

  #add(gathering: Gathering, bytes: number): void {
    const { listBytesMax, totalBytesMax } = this.#limits;
    gathering.bytes += bytes;
    if (gathering.bytes > listBytesMax) {
      this.#evict(gathering, `has more than ${listBytesMax} bytes, the most that is gathered of a list`);
    }
    while (this.bytes > totalBytesMax) {
      const what = 'the largest of those that are being gathered';
      this.#evict(this.#findLargest(), `is ${what}, which have more than ${totalBytesMax} bytes together`);
    }
    if (gathering.error !== undefined) throw gathering.error;
  }

  #evict(gathering: Gathering, message: string): void {
    gathering.error ??= new AnswerLimitError(message, false);
    gathering.bytes = 0;
    this.#gatherings.delete(gathering);
    gathering.onEvicted();
  }

  /** The largest list of the account that holds most. */
  #findLargest(): Gathering {
    const sums = new Map<string, number>();
    for (const { account, bytes } of this.#gatherings) sums.set(account, (sums.get(account) ?? 0) + bytes);
    const [largest] = [...this.#gatherings].sort(
      (one, other) =>
        (sums.get(other.account) ?? 0) - (sums.get(one.account) ?? 0) || other.bytes - one.bytes,
    );
    if (largest === undefined) throw new Error('nothing is being gathered');
    return largest;
  }
}

/** The lists of this process. */
export const gatheredLists = new GatheredLists({
  listBytesMax: gatheredListBytesMax,
  totalBytesMax: gatheredBytesMax,
});
