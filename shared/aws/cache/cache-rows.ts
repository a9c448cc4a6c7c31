import type { RowChanges, RowKey, StoredRow } from '../../core/cache/cache-store.ts';
import { hashText } from '../../core/cache/hash-text.ts';
import {
  isLive,
  joinRows,
  type LiveEntry,
  type RowChange,
  type RowCodec,
} from '../../core/cache/packed-row.ts';
import { forEachConcurrently } from '../../core/concurrency.ts';
import type { ItemKey } from '../table.ts';
import { parsePart, writePart } from './cache-bucket-items.ts';
import { mergeParts, type Part, type RowText } from './cache-buckets.ts';
import { toKeyText, unescapeKey } from './cache-keys.ts';
import type { CacheParts } from './cache-parts.ts';
import type { RawItem } from './cache-table.ts';
import { untilUncontended } from './contention.ts';

/**
 * Buckets over which the rows of a view are spread: by the hash of a row's key, so never change this number. A view of five
 * thousand rows is read as 64 items of some 9 KB, which is ten times less to read than an item a row; in a small view most
 * buckets have one row or none.
 */
const bucketCount = 64;

/** Buckets changed at a time. */
const concurrency = 8;

type Place = Pick<RowKey, 'application' | 'account'>;

/** Changes of a bucket's rows; `sk` is its key without the number of a part. */
interface BucketChanges extends ItemKey {
  readonly view: string;
  readonly changes: Map<string, readonly RowChange[]>;
}

/** See {@link CacheStore.mergeRows}. */
export async function mergeRows(
  parts: CacheParts,
  place: Place,
  rows: readonly RowChanges[],
): Promise<number> {
  const buckets = new Map<string, BucketChanges>();
  for (const { view, row, changes } of rows) {
    const sk = getBucket(view, row);
    const bucket = buckets.get(sk) ?? { pk: getRowPartition(place), sk, view, changes: new Map() };
    bucket.changes.set(row, [...(bucket.changes.get(row) ?? []), ...changes]);
    buckets.set(sk, bucket);
  }
  let written = 0;
  await forEachConcurrently([...buckets.values()], concurrency, async (bucket) => {
    const items = await mergeBucket(parts, bucket);
    written += items;
  });
  return written;
}

/** See {@link CacheStore.getRow}. */
export async function getRow(
  parts: CacheParts,
  key: RowKey,
  { consistent = false }: { readonly consistent?: boolean } = {},
): Promise<StoredRow | undefined> {
  const items: RawItem[] = [];
  const query = { pk: getRowPartition(key), prefix: getBucket(key.view, key.row), consistent };
  for await (const page of parts.table.queryRawPages(query)) items.push(...page);
  return readRows(parts, items).find(({ row }) => row === key.row);
}

/** See {@link CacheStore.listRows}. */
export async function* listRows(
  parts: CacheParts,
  place: Place,
  { view, consistent = false }: { readonly view?: string; readonly consistent?: boolean } = {},
): AsyncGenerator<readonly StoredRow[]> {
  const prefix = view === undefined ? undefined : `${toKeyText(view)}#`;
  let open: RawItem[] = [];
  for await (const items of parts.table.queryRawPages({ pk: getRowPartition(place), prefix, consistent })) {
    const groups = groupByBucket([...open, ...items]);
    // The last bucket may go on with the next page.
    open = groups.pop() ?? [];
    yield groups.flatMap((group) => readRows(parts, group));
  }
  yield readRows(parts, open);
}

/** Partition of an application's rows in an account. */
export function getRowPartition({ application, account }: Place): string {
  return `ROW#${toKeyText(application, account)}`;
}

/** What the sort keys of a row's items begin with. */
function getBucket(view: string, row: string): string {
  return `${toKeyText(view)}#${String(hashText(row) % bucketCount).padStart(2, '0')}#`;
}

/** Answers how many items it wrote. */
async function mergeBucket(
  { table, clock, randomness, getCodec }: CacheParts,
  { pk, sk, view, changes }: BucketChanges,
): Promise<number> {
  let written = 0;
  await untilUncontended({ clock, randomness, what: `${pk} ${sk}` }, async () => {
    const before: Part[] = [];
    const query = { pk, prefix: sk, consistent: true };
    for await (const items of table.queryRawPages(query)) before.push(...items.map(parsePart));
    const after = mergeParts(before, changes, { codec: getCodec(view), nowMs: clock.now() });
    const changed = after.filter((part) => !before.includes(part));
    const isWritten = await Promise.all(changed.map((part) => writePart({ table, clock }, { pk, sk }, part)));
    written += isWritten.filter(Boolean).length;
    return !isWritten.includes(false) || undefined;
  });
  return written;
}

/** The items of each bucket: they stand next to each other. */
function groupByBucket(items: readonly RawItem[]): RawItem[][] {
  const groups: RawItem[][] = [];
  let last: string | undefined;
  for (const item of items) {
    const bucket = readBucket(item);
    if (bucket === last) groups.at(-1)?.push(item);
    else groups.push([item]);
    last = bucket;
  }
  return groups;
}

function readBucket(item: RawItem): string {
  const sk = item['sk']?.S ?? '';
  return sk.slice(0, sk.lastIndexOf('#'));
}

/** The rows of a bucket in which something is. */
function readRows({ getCodec }: CacheParts, items: readonly RawItem[]): StoredRow[] {
  const [first] = items;
  if (first === undefined || items.every(({ live }) => live?.N === '0')) return [];
  const view = readView(first);
  const codec = getCodec(view);
  const rows = new Map<string, RowText[]>();
  for (const [row, text] of items.flatMap((item) => [...parsePart(item).rows])) {
    const own = rows.get(row);
    if (own === undefined) rows.set(row, [text]);
    else own.push(text);
  }
  return [...rows].flatMap(([row, texts]) => {
    const read = () => readEntries(texts, codec);
    const isSure = texts.length === 1 ? texts[0]?.live !== 0 : read().size > 0;
    return isSure ? [{ view, row, read }] : [];
  });
}

function readEntries(texts: readonly RowText[], codec: RowCodec): ReadonlyMap<string, LiveEntry> {
  const { entries } = joinRows(texts.map(({ text }) => ({ entries: codec.decode(text) })));
  if (texts.every(({ goneAtMs }) => goneAtMs === 0)) return entries as ReadonlyMap<string, LiveEntry>;
  const live = [...entries].flatMap(([key, entry]): [string, LiveEntry][] =>
    isLive(entry) ? [[key, entry]] : [],
  );
  return new Map(live);
}

function readView(item: RawItem): string {
  const sk = item['sk']?.S ?? '';
  return unescapeKey(sk.slice(0, sk.indexOf('#')));
}
