import type { Clock } from '#core/clock.ts';
import type { ItemKey, RawItem } from '#platform/aws/table.ts';

/** Milliseconds for which a read ahead may be used: names that another writer may be about to use stay for minutes. */
export const readAheadMs = 10_000;

/** Reads ahead remembered at most; beyond that, nothing is read ahead. */
export const readsAheadMax = 64;

/** What to read of a partition: one item, or those whose sort keys have this prefix. */
export type ReadPlace = Pick<ItemKey, 'pk'> & ({ readonly sk: string } | { readonly prefix: string });

interface ReadAhead {
  readonly place: ReadPlace;
  readonly begunAtMs: number;
  readonly items: Promise<readonly RawItem[]>;
}

/** Reads that a process began ahead of need. A read is forgotten when this process writes one of its items, or is refused that. */
export class ReadsAhead {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #reads = new Map<string, ReadAhead>();

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  /** Begins a read, unless it was begun already. A failure is forgotten: the writer reads again. */
  begin(place: ReadPlace, read: () => Promise<readonly RawItem[]>): void {
    const oldestMs = this.#clock.monotonic() - readAheadMs;
    for (const [id, { begunAtMs }] of this.#reads) if (begunAtMs < oldestMs) this.#reads.delete(id);
    const id = toId(place);
    if (this.#reads.has(id) || this.#reads.size >= readsAheadMax) return;
    const items = read();
    this.#reads.set(id, { place, begunAtMs: this.#clock.monotonic(), items });
    items.catch(() => this.#reads.delete(id));
  }

  /** The result of a read; undefined where none was begun, or it is out of date. */
  async find(place: ReadPlace): Promise<readonly RawItem[] | undefined> {
    const found = this.#reads.get(toId(place));
    if (found === undefined || found.begunAtMs < this.#clock.monotonic() - readAheadMs) return undefined;
    return found.items.catch(() => undefined);
  }

  /** Forgets reads of an item. */
  forget(key: ItemKey): void {
    for (const [id, { place }] of this.#reads) if (isOf(place, key)) this.#reads.delete(id);
  }
}

function toId(place: ReadPlace): string {
  return JSON.stringify(place);
}

function isOf(place: ReadPlace, { pk, sk }: ItemKey): boolean {
  if (place.pk !== pk) return false;
  return 'sk' in place ? place.sk === sk : sk.startsWith(place.prefix);
}
