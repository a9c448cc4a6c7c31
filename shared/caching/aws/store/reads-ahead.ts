import type { Clock } from '#core/clock.ts';
import type { ItemKey, RawItem } from '#platform/aws/table.ts';

/** For so long what was read ahead may be used, milliseconds: names that somebody may be about to use stay for minutes. */
export const readAheadMs = 10_000;

/** So many are remembered at most; of more, nothing is read ahead. */
export const readsAheadMax = 64;

/** What of a partition is read: one item, or those whose sort keys begin so. */
export type ReadPlace = Pick<ItemKey, 'pk'> & ({ readonly sk: string } | { readonly prefix: string });

interface ReadAhead {
  readonly place: ReadPlace;
  readonly begunAtMs: number;
  readonly items: Promise<readonly RawItem[]>;
}

/** What a process began to read before it needs it. Each is forgotten when this process writes an item of it, or was refused that. */
export class ReadsAhead {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #reads = new Map<string, ReadAhead>();

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  /** Begins to read, unless that was begun already. A failure is forgotten: the writer reads again. */
  begin(place: ReadPlace, read: () => Promise<readonly RawItem[]>): void {
    const oldestMs = this.#clock.monotonic() - readAheadMs;
    for (const [id, { begunAtMs }] of this.#reads) if (begunAtMs < oldestMs) this.#reads.delete(id);
    const id = toId(place);
    if (this.#reads.has(id) || this.#reads.size >= readsAheadMax) return;
    const items = read();
    this.#reads.set(id, { place, begunAtMs: this.#clock.monotonic(), items });
    items.catch(() => this.#reads.delete(id));
  }

  /** What is read, or was; undefined where that was not begun, or is of no use any more. */
  async find(place: ReadPlace): Promise<readonly RawItem[] | undefined> {
    const found = this.#reads.get(toId(place));
    if (found === undefined || found.begunAtMs < this.#clock.monotonic() - readAheadMs) return undefined;
    return found.items.catch(() => undefined);
  }

  /** Forgets what was read of an item. */
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
