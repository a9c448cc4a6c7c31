import { forEachConcurrently } from '#core/concurrency.ts';
import { getOrAdd } from '#core/get-or-add.ts';
import type { JsonValue } from '#core/json.ts';
import {
  type DirectoryNames,
  ItemTooLargeError,
  type RowChanges,
  type RowPlace,
} from '../store/cache-store.ts';
import { describeName } from '../store/object-names.ts';
import type { RowChange } from '../store/packed-row.ts';
import type { Revision } from '../store/revision.ts';
import type { EntryPlace, ObjectNames } from './cache-model.ts';
import { untilWritten, type WriterContext } from './writer-context.ts';

/** Applications and locations whose rows are written at a time; the store writes several items of each at once. */
const concurrency = 6;

/** The new value of an entry. */
export interface EntryValue {
  readonly revision: Revision;
  /** When it was last observed; the entry's revision counts if it is later. */
  readonly seenAt: Revision;
  readonly value: JsonValue;
}

interface PlaceChanges {
  readonly place: RowPlace;
  readonly clusters: Set<string>;
  readonly locations: Set<string>;
  readonly rows: Map<string, { readonly view: string; readonly row: string; readonly changes: RowChange[] }>;
}

/** Changes of rows, collected to be written in as few requests as possible. */
export class RowBatch {
  readonly #writer: WriterContext;
  readonly #places = new Map<string, PlaceChanges>();

  constructor(writer: WriterContext) {
    this.#writer = writer;
  }

  put(place: EntryPlace, { revision, seenAt, value }: EntryValue): void {
    this.#add(place, { key: place.key, revision, seenAt: seenAt > revision ? seenAt : revision, value });
  }

  remove(place: EntryPlace, revision: Revision): void {
    this.#add(place, { key: place.key, revision, gone: true });
  }

  /** Adds names that the application has from now on. */
  note(application: string, { cluster, location }: ObjectNames): void {
    const { clusters, locations } = this.#open({ account: this.#writer.account, application });
    if (cluster) clusters.add(cluster);
    locations.add(location);
  }

  /**
   * Writes everything: each application's names and rows, concurrently. A crash may leave either without the other; from the objects the
   * account's next list writes both. Then forgets what was collected.
   */
  async write(): Promise<void> {
    const all = [...this.#places.values()];
    this.#places.clear();
    await forEachConcurrently(all, concurrency, (changes) => writePlace(this.#writer, changes));
  }

  #open(place: RowPlace): PlaceChanges {
    const id = 'application' in place ? `application ${place.application}` : `location ${place.location}`;
    return getOrAdd(this.#places, id, () => ({
      place,
      clusters: new Set(),
      locations: new Set(),
      rows: new Map(),
    }));
  }

  #add({ place, view, row }: EntryPlace, change: RowChange): void {
    const { rows } = this.#open(place);
    getOrAdd(rows, `${view} ${row}`, () => ({ view, row, changes: [] })).changes.push(change);
  }
}

async function writePlace(
  writer: WriterContext,
  { place, clusters, locations, rows }: PlaceChanges,
): Promise<void> {
  const names = { clusters: [...clusters], locations: [...locations] };
  await Promise.all([
    'application' in place && locations.size > 0 && recordNames(writer, place.application, names),
    mergeRows(writer, place, [...rows.values()]),
  ]);
}

/** An application that does not fit into the directory still has rows, which cannot be found. */
async function recordNames(writer: WriterContext, application: string, names: DirectoryNames): Promise<void> {
  const { account, dropped } = writer;
  try {
    const left = await untilWritten(writer, (cache) => cache.recordApplication(application, account, names));
    if (left.length > 0) dropped.add(toNamesOf(application));
  } catch (error) {
    if (!(error instanceof ItemTooLargeError)) throw error;
    dropped.add(toApplicationName(application));
  }
}

/** A row that is too large must not block the others: it is found, and left out. */
async function mergeRows(writer: WriterContext, place: RowPlace, rows: readonly RowChanges[]): Promise<void> {
  const { dropped } = writer;
  if (rows.length === 0) return;
  try {
    await untilWritten(writer, (cache) => cache.mergeRows(place, rows));
  } catch (error) {
    if (!(error instanceof ItemTooLargeError)) throw error;
    const [only, ...others] = rows;
    if (only !== undefined && others.length === 0) {
      dropped.add(describeName(only.row));
      return;
    }
    const half = Math.ceil(rows.length / 2);
    await mergeRows(writer, place, rows.slice(0, half));
    await mergeRows(writer, place, rows.slice(half));
  }
}

/** Readable name of an application that cannot be cached. */
export function toApplicationName(application: string): string {
  return `application ${application}`;
}

/** Readable text for an application's names that do not fit into the directory. */
export function toNamesOf(application: string): string {
  return `names of clusters of application ${application}`;
}
