import { getOrAdd } from '#core/get-or-add.ts';
import { hashText } from '../../store/hash-text.ts';
import {
  forgetGone,
  getLater,
  goneEntryRetentionMs,
  isLive,
  joinRows,
  mergeRow,
  type PackedRow,
  type RowChange,
  type RowCodec,
  type RowEntry,
} from '../../store/packed-row.ts';
import type { Revision } from '../../store/revision.ts';

/** Bytes of a part, uncompressed, above which new entries go to other parts: some 30 KB compressed. */
const partBytesMax = 256 * 1024;

/** Parts besides the first one. */
const furtherParts = 15;

/** A row as its bucket stores it: its text, and what must be known without decoding it. */
export interface RowText {
  readonly text: string;
  /** Number of entries that are not removed. */
  readonly live: number;
  /** When the oldest remembered removal reached the row, milliseconds; 0 when it remembers none. */
  readonly goneAtMs: number;
}

/** One item of a bucket, which holds the entries of several rows. Most buckets have one part, most rows are in one. */
export interface Part {
  readonly index: number;
  /** Of the item that was read; 0 when there is none. */
  readonly versionNumber: number;
  readonly rows: ReadonlyMap<string, RowText>;
  /** Highest revision of what its rows have forgotten. */
  readonly floor: Revision | undefined;
  /** Length of its uncompressed text. */
  readonly bytes: number;
}

interface MergeOptions {
  readonly codec: RowCodec;
  readonly nowMs: number;
}

/** The parts of a bucket after changes, by row. A part without changes is the same object. */
export function mergeParts(
  before: readonly Part[],
  changes: ReadonlyMap<string, readonly RowChange[]>,
  options: MergeOptions,
): Part[] {
  const after = new Map(before.map((part) => [part.index, part]));
  for (const [row, own] of changes) mergeIntoParts(after, { row, changes: own }, options);
  return [...after.values()].map((part) => (before.includes(part) ? part : dropGone(part, options)));
}

/** A row's text and its metadata. */
export function toRowText(entries: PackedRow['entries'], codec: RowCodec): RowText {
  const times = [...entries.values()].flatMap((entry) => (isLive(entry) ? [] : [entry.goneAtMs]));
  return {
    text: codec.encode(entries),
    live: entries.size - times.length,
    goneAtMs: times.length === 0 ? 0 : Math.min(...times),
  };
}

function mergeIntoParts(
  parts: Map<number, Part>,
  { row, changes }: { row: string; changes: readonly RowChange[] },
  { codec, nowMs }: MergeOptions,
): void {
  // The floor is the whole bucket's: an entry may have been in another part.
  const floor = [...parts.values()].map((part) => part.floor).reduce(getLater, undefined);
  const pieces = new Map<number, PackedRow>();
  for (const [index, part] of parts) {
    const found = part.rows.get(row);
    if (found !== undefined) pieces.set(index, { entries: codec.decode(found.text), floor });
  }
  const all = [...changes, ...findStale([...pieces.values()])];
  const firstBytes = parts.get(0)?.bytes ?? 0;
  for (const [index, own] of placeChanges(pieces, all, { row, firstBytes })) {
    const piece = pieces.get(index) ?? { entries: new Map(), floor };
    const merged = mergeRow(piece, own, nowMs);
    if (!merged.changed) continue;
    const part = parts.get(index) ?? { index, versionNumber: 0, rows: new Map(), floor, bytes: 0 };
    parts.set(index, replaceRow(part, { row, merged: merged.row, codec }));
  }
}

function replaceRow(
  part: Part,
  { row, merged, codec }: { row: string; merged: PackedRow; codec: RowCodec },
): Part {
  const rows = new Map(part.rows);
  const text = toRowText(merged.entries, codec);
  const bytes = part.bytes - (rows.get(row)?.text.length ?? 0) + text.text.length;
  if (merged.entries.size === 0) rows.delete(row);
  else rows.set(row, text);
  return { ...part, rows, bytes, floor: getLater(part.floor, merged.floor) };
}

/** A part to be written, without the removals that its rows have remembered long enough. */
function dropGone(part: Part, { codec, nowMs }: MergeOptions): Part {
  let kept = part;
  for (const [row, { text, goneAtMs }] of part.rows) {
    if (goneAtMs === 0 || goneAtMs + goneEntryRetentionMs > nowMs) continue;
    const merged = forgetGone({ entries: codec.decode(text), floor: kept.floor }, nowMs);
    kept = replaceRow(kept, { row, merged, codec });
  }
  return kept;
}

/** The changes by which pieces of a row agree on an entry: two writers may have put a new one into different parts. */
function findStale(pieces: readonly PackedRow[]): RowChange[] {
  if (pieces.length < 2) return [];
  const joined = joinRows(pieces);
  return pieces.flatMap(({ entries }) =>
    [...entries.keys()].flatMap((key) => {
      const entry = joined.entries.get(key);
      return entry === undefined || entry === entries.get(key) ? [] : [toChange(key, entry)];
    }),
  );
}

function toChange(key: string, entry: RowEntry): RowChange {
  const { revision } = entry;
  return isLive(entry)
    ? { key, revision, seenAt: revision, value: entry.value }
    : { key, revision, gone: true };
}

/** The changes of each part: to the part that has the entry, or for a new entry to one with room. */
function placeChanges(
  pieces: ReadonlyMap<number, PackedRow>,
  changes: readonly RowChange[],
  { row, firstBytes }: { row: string; firstBytes: number },
): Map<number, RowChange[]> {
  const placed = new Map<number, RowChange[]>();
  const fresh = new Map<string, number>();
  let bytes = firstBytes;
  for (const change of changes) {
    let indexes = [...pieces].filter(([, { entries }]) => entries.has(change.key)).map(([index]) => index);
    if (indexes.length === 0) {
      const index = fresh.get(change.key) ?? (bytes < partBytesMax ? 0 : getFurtherPart(row, change.key));
      fresh.set(change.key, index);
      if (index === 0) bytes += JSON.stringify(change).length;
      indexes = [index];
    }
    for (const index of indexes) getOrAdd(placed, index, () => []).push(change);
  }
  return placed;
}

function getFurtherPart(row: string, key: string): number {
  return 1 + (hashText(`${row} ${key}`) % furtherParts);
}
