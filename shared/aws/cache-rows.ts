import { type RowKey, type StoredRow, tombstoneRetentionMs } from '../core/cache/cache-store.ts';
import { hashText } from '../core/cache/hash-text.ts';
import {
  emptyRow,
  hasLiveEntries,
  isLive,
  joinRows,
  mergeRow as mergeEntries,
  type PackedRow,
  type RowChange,
  type RowEntry,
} from '../core/cache/packed-row.ts';
import type { Version } from '../core/cache/version.ts';
import type { JsonValue } from '../core/json.ts';
import { toKeyPrefix, toKeyText, toSortKey, unescapeKey } from './cache-keys.ts';
import type { CacheParts } from './cache-parts.ts';
import type { RawItem } from './cache-table.ts';
import { untilUncontended } from './contention.ts';
import { packText, unpackText } from './packed-text.ts';

/** Bytes of a part, not compressed, from which new entries go to other parts. */
const partBytesMax = 100 * 1024;

/** Parts beside the first one. */
const furtherParts = 15;

/** Bytes up to which a part is stored as it is: reading a thousand small ones must not mean to inflate a thousand. */
const plainRowBytesMax = 4 * 1024;

/** One item of a row. */
interface Part {
  readonly index: number;
  /** Of the item that was read; 0 when there is none. */
  readonly revision: number;
  readonly row: PackedRow;
  readonly bytes: number;
}

/** An entry as stored: version, value, and of a removed one when that was. */
type EntryTuple = readonly [Version, JsonValue] | readonly [Version, null, number];

/** See {@link CacheStore.mergeRow}. */
export async function mergeRow(
  parts: CacheParts,
  key: RowKey,
  changes: readonly RowChange[],
): Promise<{ row: PackedRow; changed: boolean }> {
  const what = `row ${key.row} of ${key.application} in ${key.account}`;
  let changed = false;
  const row = await untilUncontended({ ...parts, what }, async () => {
    const before = await readParts(parts, key, true);
    const after = mergeParts(before, changes, parts.clock.now());
    const written = after.filter((part) => !before.includes(part));
    const isWritten = await Promise.all(written.map((part) => writePart(parts, key, part)));
    changed ||= isWritten.includes(true);
    return isWritten.includes(false) ? undefined : joinRows(after.map((part) => part.row));
  });
  return { row, changed };
}

/** See {@link CacheStore.getRow}. */
export async function getRow(
  parts: CacheParts,
  key: RowKey,
  { consistent = false }: { readonly consistent?: boolean } = {},
): Promise<PackedRow | undefined> {
  const row = joinRows((await readParts(parts, key, consistent)).map((part) => part.row));
  return hasLiveEntries(row) ? row : undefined;
}

/** See {@link CacheStore.listRows}. */
export async function* listRows(
  { table }: CacheParts,
  { application, account }: Pick<RowKey, 'application' | 'account'>,
  { prefix = '', consistent = false }: { readonly prefix?: string; readonly consistent?: boolean } = {},
): AsyncGenerator<readonly StoredRow[]> {
  const pk = getRowPartition(application, account);
  let open: RawItem[] = [];
  for await (const items of table.queryRawPages({ pk, prefix: toKeyPrefix(prefix), consistent })) {
    const groups = groupByRow([...open, ...items]);
    // The last row may go on with the next page.
    open = groups.pop() ?? [];
    yield toStoredRows(groups);
  }
  yield toStoredRows([open]);
}

/** Partition of an application's rows in an account. */
export function getRowPartition(application: string, account: string): string {
  return `ROW#${toKeyText(application, account)}`;
}

async function readParts({ table }: CacheParts, key: RowKey, consistent: boolean): Promise<Part[]> {
  const pk = getRowPartition(key.application, key.account);
  const found: Part[] = [];
  for await (const items of table.queryRawPages({ pk, prefix: `${toKeyText(key.row)}#`, consistent })) {
    found.push(...items.map(toPart));
  }
  return found;
}

/** The parts of a row after changes. A part that did not change is the same object as before. */
function mergeParts(before: readonly Part[], changes: readonly RowChange[], nowMs: number): Part[] {
  const joined = joinRows(before.map(({ row }) => row));
  const byIndex = placeChanges(before, [...changes, ...findStale(before, joined)]);
  const after = new Map(before.map((part) => [part.index, part]));
  for (const [index, own] of byIndex) {
    const part = after.get(index) ?? { index, revision: 0, row: emptyRow, bytes: 0 };
    // The floor is the whole row's: an entry may have been in another part before.
    const { row, changed } = mergeEntries({ ...part.row, floor: joined.floor }, own, nowMs);
    if (changed) after.set(index, { ...part, row });
  }
  return [...after.values()];
}

/** What makes parts that know an entry agree upon it: two writers may have put a new one into different parts. */
function findStale(parts: readonly Part[], joined: PackedRow): RowChange[] {
  if (parts.length < 2) return [];
  const stale = parts.flatMap(({ row }) =>
    [...row.entries].filter(([key, entry]) => joined.entries.get(key) !== entry).map(([key]) => key),
  );
  return stale.flatMap((key) => {
    const entry = joined.entries.get(key);
    return entry === undefined ? [] : [toChange(key, entry)];
  });
}

function toChange(key: string, entry: RowEntry): RowChange {
  const { version } = entry;
  return isLive(entry) ? { key, version, seenAt: version, value: entry.value } : { key, version, gone: true };
}

/** The changes of each part: where the entry is; a new one where there is room. */
function placeChanges(parts: readonly Part[], changes: readonly RowChange[]): Map<number, RowChange[]> {
  const placed = new Map<number, RowChange[]>();
  const fresh = new Map<string, number>();
  let firstBytes = parts.find(({ index }) => index === 0)?.bytes ?? 0;
  for (const change of changes) {
    let indexes = parts.filter(({ row }) => row.entries.has(change.key)).map(({ index }) => index);
    if (indexes.length === 0) {
      const index = fresh.get(change.key) ?? (firstBytes < partBytesMax ? 0 : getFurtherPart(change.key));
      fresh.set(change.key, index);
      if (index === 0) firstBytes += JSON.stringify(change).length;
      indexes = [index];
    }
    for (const index of indexes) {
      const own = placed.get(index) ?? [];
      own.push(change);
      placed.set(index, own);
    }
  }
  return placed;
}

function getFurtherPart(key: string): number {
  return 1 + (hashText(key) % furtherParts);
}

async function writePart({ table, clock }: CacheParts, key: RowKey, part: Part): Promise<boolean> {
  const what = `row ${key.row} of ${key.application} in ${key.account}`;
  const live = [...part.row.entries.values()].filter(isLive).length;
  const item = {
    pk: getRowPartition(key.application, key.account),
    ...toPartKey(key.row, part.index),
    body: packText(formatEntries(part.row), { plainBytesMax: plainRowBytesMax, what }),
    floor: part.row.floor,
    live,
    revision: part.revision + 1,
    expiresAt: live > 0 ? undefined : Math.ceil((clock.now() + tombstoneRetentionMs) / 1000),
  };
  return table.putIf(
    item,
    part.revision === 0
      ? { expression: 'attribute_not_exists(pk)' }
      : { expression: 'revision = :revision', values: { ':revision': part.revision } },
  );
}

/** `<row>#<part>`; the text of a row whose key is cut stands beside it. */
function toPartKey(row: string, index: number): { sk: string; row?: string } {
  const { sk, parts } = toSortKey(row);
  return { sk: `${sk}#${index}`, ...(parts && { row }) };
}

function formatEntries({ entries }: PackedRow): string {
  const tuples = [...entries].map(([key, entry]): [string, EntryTuple] => [
    key,
    isLive(entry) ? [entry.version, entry.value] : [entry.version, null, entry.goneAtMs],
  ]);
  return JSON.stringify(Object.fromEntries(tuples));
}

function parseEntries(text: string): Map<string, RowEntry> {
  const entries = new Map<string, RowEntry>();
  for (const [key, tuple] of Object.entries(JSON.parse(text) as Record<string, EntryTuple>)) {
    const [version, value, goneAtMs] = tuple;
    entries.set(key, goneAtMs === undefined ? { version, value } : { version, goneAtMs });
  }
  return entries;
}

function toPart(item: RawItem): Part {
  const text = readText(item);
  const sk = item['sk']?.S ?? '';
  return {
    index: Number(sk.slice(sk.lastIndexOf('#') + 1)),
    revision: Number(item['revision']?.N),
    row: { entries: parseEntries(text), floor: item['floor']?.S as Version | undefined },
    bytes: text.length,
  };
}

function readText({ body }: RawItem): string {
  return unpackText(body?.S ?? body?.B);
}

/** The items of each row: they stand next to each other. */
function groupByRow(items: readonly RawItem[]): RawItem[][] {
  const groups: RawItem[][] = [];
  let last = '';
  for (const item of items) {
    const sk = item['sk']?.S ?? '';
    const row = sk.slice(0, sk.lastIndexOf('#') + 1);
    if (row === last) groups.at(-1)?.push(item);
    else groups.push([item]);
    last = row;
  }
  return groups;
}

function toStoredRows(groups: readonly RawItem[][]): StoredRow[] {
  return groups
    .filter((items) => items.some(({ live }) => live?.N !== '0'))
    .flatMap((items) => {
      const [first] = items;
      return first === undefined ? [] : [{ row: readRowKey(first), read: () => readRow(items) }];
    });
}

function readRow(items: readonly RawItem[]): PackedRow {
  return joinRows(items.map((item) => toPart(item).row));
}

function readRowKey(item: RawItem): string {
  const sk = item['sk']?.S ?? '';
  return item['row']?.S ?? unescapeKey(sk.slice(0, sk.lastIndexOf('#')));
}
