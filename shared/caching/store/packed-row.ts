import type { JsonValue } from '#core/json.ts';
import type { Revision } from './revision.ts';

/** Milliseconds for which a row remembers an entry that was removed: 15 minutes. */
export const goneEntryRetentionMs = 15 * 60_000;

/** An entry that is present. */
export interface LiveEntry {
  readonly revision: Revision;
  readonly value: JsonValue;
}

/** An entry that was removed. */
export interface GoneEntry {
  /** Nothing up to this revision may bring it back. */
  readonly revision: Revision;
  /** When the removal reached the row, milliseconds. */
  readonly goneAtMs: number;
}

/** One entry of a row. */
export type RowEntry = LiveEntry | GoneEntry;

/** Entries by key, for example a server group (`self`) with its pods (`pod cart-v003-x7k2p`). */
export interface PackedRow {
  readonly entries: ReadonlyMap<string, RowEntry>;
  /** Highest revision of the removed entries that the row has forgotten. */
  readonly floor?: Revision | undefined;
}

/** Puts an entry into a row, unless the row knows a newer one. */
export interface EntryPut {
  readonly key: string;
  /** When the value became what it is, the latest of its objects' revisions. Two puts of one key and revision have one value. */
  readonly revision: Revision;
  /** When it was still seen to be so: the revision of the list or event that showed it; at least `revision`. */
  readonly seenAt: Revision;
  readonly value: JsonValue;
}

/** Removes an entry from a row, unless the row knows a newer one. */
export interface EntryRemoval {
  readonly key: string;
  readonly revision: Revision;
  readonly gone: true;
}

/** One change of a row. */
export type RowChange = EntryPut | EntryRemoval;

/** Converts the entries of a row to a text and back. */
export interface RowCodec {
  /** A text without line breaks. */
  encode(entries: ReadonlyMap<string, RowEntry>): string;
  /** The entries; none for a text that it does not understand: only later puts remain then. */
  decode(text: string): ReadonlyMap<string, RowEntry>;
}

/** A row without entries. */
export const emptyRow: PackedRow = { entries: new Map() };

/** True for an entry that is present. */
export function isLive(entry: RowEntry): entry is LiveEntry {
  return 'value' in entry;
}

/**
 * A row after changes. For each entry the highest revision wins, and a removal over a put of the same revision. So neither the order nor
 * the repetition of changes matters. Removals of more than 15 minutes ago are forgotten when the row changes. From then on a new entry must
 * have been seen after everything that was forgotten.
 *
 * @returns the row, and whether it changed: if not, nothing need be written.
 */
export function mergeRow(
  row: PackedRow,
  changes: readonly RowChange[],
  nowMs: number,
): { row: PackedRow; changed: boolean } {
  const entries = new Map(row.entries);
  let changed = false;
  for (const change of changes) {
    if (!prevails(change, entries.get(change.key), row.floor)) continue;
    entries.set(change.key, toEntry(change, nowMs));
    changed = true;
  }
  return changed ? { row: forgetGone({ entries, floor: row.floor }, nowMs), changed } : { row, changed };
}

/** One row from several that hold parts of it. An entry in more than one of them is merged by the rule of {@link mergeRow}. */
export function joinRows(rows: readonly PackedRow[]): PackedRow {
  const [first = emptyRow, ...others] = rows;
  if (others.length === 0) return first;
  const entries = new Map(first.entries);
  for (const [key, entry] of others.flatMap((row) => [...row.entries])) {
    const found = entries.get(key);
    if (found === undefined || surpasses(entry, found)) entries.set(key, entry);
  }
  return { entries, floor: rows.map(({ floor }) => floor).reduce(getLater) };
}

/** A row without removals of more than 15 minutes ago; the same object when there are none. */
export function forgetGone(row: PackedRow, nowMs: number): PackedRow {
  const { entries, floor } = row;
  const isForgotten = (entry: RowEntry): boolean =>
    !isLive(entry) && entry.goneAtMs + goneEntryRetentionMs <= nowMs;
  const forgotten = [...entries.values()].filter(isForgotten);
  if (forgotten.length === 0) return row;
  return {
    entries: new Map([...entries].filter(([, entry]) => !isForgotten(entry))),
    floor: forgotten.map(({ revision }): Revision | undefined => revision).reduce(getLater, floor),
  };
}

function prevails(change: RowChange, found: RowEntry | undefined, floor: Revision | undefined): boolean {
  if (found !== undefined) return surpasses(change, found);
  return floor === undefined || ('gone' in change ? change.revision : change.seenAt) > floor;
}

/** Whether a change or entry wins over the known entry. */
function surpasses(told: RowChange | RowEntry, known: RowEntry): boolean {
  if (told.revision !== known.revision) return told.revision > known.revision;
  if (!isLive(known)) return false;
  if (!('value' in told)) return true;
  // A revision should have one value. Where it has two, all writers must still choose the same one.
  return JSON.stringify(told.value) > JSON.stringify(known.value);
}

function toEntry(change: RowChange, nowMs: number): RowEntry {
  const { revision } = change;
  return 'gone' in change ? { revision, goneAtMs: nowMs } : { revision, value: change.value };
}

/** The later of two revisions. */
export function getLater(one: Revision | undefined, other: Revision | undefined): Revision | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return one > other ? one : other;
}
