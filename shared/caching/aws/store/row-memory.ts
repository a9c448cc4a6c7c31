import { RememberedBytes } from '#core/remembered-bytes.ts';
import type { StoredRow } from '../../store/cache-store.ts';

/** Bytes of a decoded row for each character of its text. */
const bytesPerCharacter = 3;

/** Places with fewer buckets are not remembered: they are quick to read. */
const bucketsMin = 8;

/** The rows of a bucket as they were once read. */
export interface ReadBucket {
  /** The items that it was read from, with their revisions. */
  readonly signature: string;
  readonly rows: readonly StoredRow[];
  /** Of the rows' texts. */
  readonly characters: number;
}

/** Buckets by their names. */
export type ReadBuckets = ReadonlyMap<string, ReadBucket>;

/** The rows that a process has read: listing them again reads what changed. The store is asked for the revisions each time. */
export class RowMemory {
  readonly #remembered: RememberedBytes;
  readonly #places = new Map<string, ReadBuckets>();

  constructor(remembered = new RememberedBytes()) {
    this.#remembered = remembered;
  }

  /** The remembered buckets of a place. */
  find(place: string): ReadBuckets | undefined {
    const found = this.#places.get(place);
    if (found !== undefined) this.#remembered.use(found);
    return found;
  }

  /** Remembers all buckets of a place, replacing earlier ones. */
  remember(place: string, buckets: ReadBuckets): void {
    const known = this.#places.get(place);
    if (known !== undefined) this.#remembered.drop(known);
    this.#places.delete(place);
    if (buckets.size < bucketsMin) return;
    this.#places.set(place, buckets);
    const characters = buckets.values().reduce((sum, bucket) => sum + bucket.characters, 0);
    this.#remembered.keep(buckets, characters * bytesPerCharacter, () => this.#places.delete(place));
  }
}
