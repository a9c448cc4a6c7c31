import { forEachConcurrently } from '#core/concurrency.ts';
import { getOrAdd } from '#core/get-or-add.ts';
import type { ItemKey, RawItem } from '#platform/aws/table.ts';
import type { RowChanges, RowKey, RowPlace, StoredRow } from '../../store/cache-store.ts';
import { hashText } from '../../store/hash-text.ts';
import {
  isLive,
  joinRows,
  type LiveEntry,
  type RowChange,
  type RowCodec,
  type RowEntry,
} from '../../store/packed-row.ts';
import { parsePart, writePart } from './cache-bucket-items.ts';
import { mergeParts, type RowText } from './cache-buckets.ts';
import { toKeyText, unescapeKey } from './cache-keys.ts';
import type { CacheParts } from './cache-parts.ts';
import type { PartitionQuery } from './cache-table.ts';
import { untilUncontended } from './contention.ts';
import { type ReadBucket, type ReadBuckets, signItems } from './row-memory.ts';

/**
 * Buckets over which the rows of a view are spread: by the hash of a row's key, so never change this number. A view of five thousand rows
 * is read as 64 items of some 9 KB, a tenth of what one item a row would cost. In a small view most buckets have one row or none.
 */
const bucketCount = 64;

/** Buckets changed at a time. */
const concurrency = 8;

type RowBucket = ReadBucket<readonly StoredRow[]>;

/** Changes of a bucket's rows; `sk` is its key without the number of a part. */
interface BucketChanges extends ItemKey {
  readonly view: string;
  readonly changes: Map<string, readonly RowChange[]>;
}

/** See {@link CacheStore.mergeRows}. */
export async function mergeRows(
  parts: CacheParts,
  place: RowPlace,
  rows: readonly RowChanges[],
): Promise<number> {
  if ('location' in place) {
    await parts.names.note(getLocationsKey(place.account), { namespaces: [place.location] });
  }
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

/** Begins to read what changing a row will read. */
export function readRowAhead({ table, names }: CacheParts, key: RowKey): void {
  table.readAhead({ pk: getRowPartition(key), prefix: getBucket(key.view, key.row) });
  if ('location' in key) names.readAhead(getLocationsKey(key.account), { namespaces: [key.location] });
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
  return readRows(parts, query.pk, items).find(({ row }) => row === key.row);
}

/** See {@link CacheStore.listRows}. */
export async function* listRows(
  parts: CacheParts,
  place: RowPlace,
  { view, consistent = false }: { readonly view?: string; readonly consistent?: boolean } = {},
): AsyncGenerator<readonly StoredRow[]> {
  const prefix = view === undefined ? undefined : `${toKeyText(view)}#`;
  const query = { pk: getRowPartition(place), prefix, consistent };
  const name = `${query.pk}\n${prefix}`;
  const known = parts.rowMemory.find(name);
  const attributes = known && bucketAttributes;
  const found = new Map<string, RowBucket>();
  for await (const groups of groupPages(parts.table.queryRawPages({ ...query, attributes }))) {
    const buckets = known
      ? await readChanged(parts, { query, known, groups })
      : readBuckets(parts, query.pk, groups);
    for (const [bucket, read] of buckets) found.set(bucket, read);
    yield buckets.flatMap(([, { content }]) => content);
  }
  parts.rowMemory.remember(name, found);
}

/** Partition of the rows of an application or a location. */
export function getRowPartition(place: RowPlace): string {
  return 'application' in place
    ? `ROW#${toKeyText(place.application, place.account)}`
    : `NAMESPACE#${toKeyText(place.account, place.location)}`;
}

/** Where the locations with rows of an account are stored. */
export function getLocationsKey(account: string): ItemKey {
  return { pk: `KINDS#${toKeyText(account)}`, sk: 'NAMESPACES' };
}

/** Prefix of the sort keys of a row's items. */
function getBucket(view: string, row: string): string {
  return `${toKeyText(view)}#${String(hashText(row) % bucketCount).padStart(2, '0')}#`;
}

/** Returns how many items it wrote. */
async function mergeBucket(parts: CacheParts, { pk, sk, view, changes }: BucketChanges): Promise<number> {
  const { table, clock, randomness, getCodec } = parts;
  let written = 0;
  await untilUncontended({ clock, randomness, what: `${pk} ${sk}` }, async () => {
    const items = await table.readToWrite({ pk, prefix: sk });
    const before = items.map((item) => parsePart(item, pk, parts));
    const after = mergeParts(before, changes, { codec: getCodec(view), nowMs: clock.now() });
    const changed = after.filter((part) => !before.includes(part));
    const isWritten = await Promise.all(changed.map((part) => writePart({ table, clock }, { pk, sk }, part)));
    written += isWritten.filter(Boolean).length;
    return !isWritten.includes(false) || undefined;
  });
  return written;
}

/** The attributes that show whether a bucket changed. */
const bucketAttributes = ['sk', 'revision', 'live'] as const;

/** Buckets as they are now: reads those that changed or are not remembered. */
async function readChanged(
  parts: CacheParts,
  {
    query: { pk, consistent },
    known,
    groups,
  }: {
    readonly query: Pick<PartitionQuery, 'pk' | 'consistent'>;
    readonly known: ReadBuckets<readonly StoredRow[]>;
    /** The items of each bucket, without their bodies. */
    readonly groups: readonly RawItem[][];
  },
): Promise<[string, RowBucket][]> {
  const buckets = groups.map((items) => ({ name: readBucket(items[0]), items }));
  const keys = buckets
    .filter(({ name, items }) => known.get(name)?.signature !== signItems(items))
    .flatMap(({ items }) => items.map(({ sk }) => ({ pk, sk: sk?.S ?? '' })));
  const changed = keys.length === 0 ? [] : await parts.table.getRawBatch(keys, { consistent });
  const read = new Map(readBuckets(parts, pk, groupByBucket(changed)));
  return buckets.flatMap(({ name, items }): [string, RowBucket][] => {
    const remembered = known.get(name);
    const bucket = remembered?.signature === signItems(items) ? remembered : read.get(name);
    return bucket === undefined ? [] : [[name, bucket]];
  });
}

function readBuckets(parts: CacheParts, pk: string, groups: readonly RawItem[][]): [string, RowBucket][] {
  return groups.map((items) => [readBucket(items[0]), toReadBucket(parts, pk, items)]);
}

function toReadBucket(parts: CacheParts, pk: string, items: readonly RawItem[]): RowBucket {
  const characters = items.reduce((sum, { body }) => sum + (body?.S ?? body?.B ?? '').length, 0);
  return { signature: signItems(items), content: readRows(parts, pk, items), characters };
}

/** The items of each bucket of all pages. */
async function* groupPages(pages: AsyncIterable<readonly RawItem[]>): AsyncGenerator<RawItem[][]> {
  let open: RawItem[] = [];
  for await (const items of pages) {
    const groups = groupByBucket([...open, ...items]);
    // The last bucket may go on with the next page.
    open = groups.pop() ?? [];
    yield groups;
  }
  if (open.length > 0) yield [open];
}

/** The items of each bucket: they follow each other. */
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

function readBucket(item: RawItem | undefined): string {
  const sk = item?.['sk']?.S ?? '';
  return sk.slice(0, sk.lastIndexOf('#'));
}

/** The rows of a bucket that have entries. */
function readRows(parts: CacheParts, pk: string, items: readonly RawItem[]): StoredRow[] {
  const [first] = items;
  if (first === undefined || items.every(({ live }) => live?.N === '0')) return [];
  const view = readView(first);
  const codec = parts.getCodec(view);
  const version = signItems(items);
  const rows = new Map<string, RowText[]>();
  for (const [row, text] of items.flatMap((item) => [...parsePart(item, pk, parts).rows]))
    getOrAdd(rows, row, () => []).push(text);
  return [...rows].flatMap(([row, texts]) => {
    let entries: ReadonlyMap<string, LiveEntry> | undefined;
    const read = () => (entries ??= readEntries(texts, codec));
    const isSure = texts.length === 1 ? texts[0]?.live !== 0 : read().size > 0;
    return isSure ? [{ view, row, version, read }] : [];
  });
}

function readEntries(texts: readonly RowText[], codec: RowCodec): ReadonlyMap<string, LiveEntry> {
  const { entries } = joinRows(texts.map(({ text }) => ({ entries: codec.decode(text) })));
  if (areAllLive(entries, texts)) return entries;
  const live = [...entries].flatMap(([key, entry]): [string, LiveEntry][] =>
    isLive(entry) ? [[key, entry]] : [],
  );
  return new Map(live);
}

/** Whether none of the entries of these rows was removed, by the rows' metadata. */
function areAllLive(
  _entries: ReadonlyMap<string, RowEntry>,
  texts: readonly RowText[],
): _entries is ReadonlyMap<string, LiveEntry> {
  return texts.every(({ goneAtMs }) => goneAtMs === 0);
}

function readView(item: RawItem): string {
  const sk = item['sk']?.S ?? '';
  return unescapeKey(sk.slice(0, sk.indexOf('#')));
}
