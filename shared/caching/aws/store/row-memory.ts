import { RememberedBytes } from '#core/remembered-bytes.ts';
import type { RawItem } from '#platform/aws/table.ts';

/** Bytes of a decoded row for each character of its text. */
const bytesPerCharacter = 3;

/** Places with fewer buckets of rows are not remembered: they are quick to read. */
const rowBucketsMin = 8;

/** What was in a bucket, which is some items, when it was read. */
export interface ReadBucket<T> {
  /** The items that it was read from, with their revisions. */
  readonly signature: string;
  readonly content: T;
  /** Of the content's texts. */
  readonly characters: number;
}

/** Buckets by their names. */
export type ReadBuckets<T> = ReadonlyMap<string, ReadBucket<T>>;

/** What a process has read, such as rows: listing them again reads what changed. The store is asked for the revisions each time. */
export class RowMemory<T> {
  readonly #remembered: RememberedBytes;
  readonly #bucketsMin: number;
  readonly #places = new Map<string, ReadBuckets<T>>();

  /** @param bucketsMin how many buckets a place has at least that is remembered */
  constructor(remembered = new RememberedBytes(), bucketsMin = rowBucketsMin) {
    this.#remembered = remembered;
    this.#bucketsMin = bucketsMin;
  }

  /** The remembered buckets of a place. */
  find(place: string): ReadBuckets<T> | undefined {
    const found = this.#places.get(place);
    if (found !== undefined) this.#remembered.use(found);
    return found;
  }

  /** Remembers all buckets of a place, replacing earlier ones. */
  remember(place: string, buckets: ReadBuckets<T>): void {
    const known = this.#places.get(place);
    if (known !== undefined) this.#remembered.drop(known);
    this.#places.delete(place);
    if (buckets.size < this.#bucketsMin) return;
    this.#places.set(place, buckets);
    const characters = buckets.values().reduce((sum, bucket) => sum + bucket.characters, 0);
    this.#remembered.keep(buckets, characters * bytesPerCharacter, () => this.#places.delete(place));
  }
}

/** The signature of a bucket. */
export function signItems(items: readonly RawItem[]): string {
  return items.map(({ sk, revision }) => `${sk?.S} ${revision?.N}`).join('\n');
}
