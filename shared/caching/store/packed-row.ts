import type { JsonValue } from '#core/json.ts';
import type { Revision } from './revision.ts';

/** Milliseconds for which a row remembers an entry that was removed: 15 minutes. */
export const goneEntryRetentionMs = 15 * 60_000;

/** An entry that is there. */
export interface LiveEntry {
  readonly revision: Revision;
  readonly value: JsonValue;
}

/** An entry that was removed. */
export interface GoneEntry {
  /** Nothing up to this revision may bring it back. */
  readonly revision: Revision;
  /** When the row heard of it, milliseconds. */
  readonly goneAtMs: number;
}

/** One entry of a row. */
export type RowEntry = LiveEntry | GoneEntry;

/** Entries by key, for example a server group (`self`) with its pods (`pod cart-v003-x7k2p`). */
export interface PackedRow {
  readonly entries: ReadonlyMap<string, RowEntry>;
  /** Highest revision of the removed entries that the row does not remember any more. */
  readonly floor?: Revision | undefined;
}

/** Puts an entry into a row, unless the row knows something newer of it. */
export interface EntryPut {
  readonly key: string;
  /**
   * When the value became what it is. Two puts of one key and revision have one value. Where a value depends on several
   * objects this is the latest of their revisions.
   */
  readonly revision: Revision;
  /** When it was still seen to be so: that of the list or event that told it; at least `revision`. */
  readonly seenAt: Revision;
  readonly value: JsonValue;
}

/** Removes an entry from a row, unless the row knows something newer of it. */
export interface EntryRemoval {
  readonly key: string;
  readonly revision: Revision;
  readonly gone: true;
}

/** One change of a row. */
export type RowChange = EntryPut | EntryRemoval;

/** How the entries of a row become a text, and come back. */
export interface RowCodec {
  /** A text without line breaks. */
  encode(entries: ReadonlyMap<string, RowEntry>): string;
  /** The entries; none of a text that it does not understand any more: what is put next stands alone then. */
  decode(text: string): ReadonlyMap<string, RowEntry>;
}

/** A row without entries. */
export const emptyRow: PackedRow = { entries: new Map() };

/** True for an entry that is there. */
export function isLive(entry: RowEntry): entry is LiveEntry {
  return 'value' in entry;
}

/**
 * A row after changes. For each entry the highest revision wins, and of a put and a removal of the same revision the removal, so
 * neither the order of changes matters nor how often one comes. What was removed more than 15 minutes ago is forgotten when
 * the row changes; from then on an entry that the row does not have must have been seen alive after everything forgotten.
 *
 * @returns the row, and whether it is another one than before: if not, nothing need be written.
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

/**
 * One row of several that hold parts of it. An entry that stands in more than one of them is what the rule of
 * {@link mergeRow} makes of it.
 */
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

/** A row without what was removed more than 15 minutes ago; the same row when there is nothing of that kind. */
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

/** Whether what is told of an entry counts more than what is known of it. */
function surpasses(told: RowChange | RowEntry, known: RowEntry): boolean {
  if (told.revision !== known.revision) return told.revision > known.revision;
  if (!isLive(known)) return false;
  if (!('value' in told)) return true;
  // There should be one value a revision. If there are two, every writer must come to the same one all the same.
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
