import { cacheReader } from '#platform/aws/item-reader.ts';
import { fromRaw, type Item, type ItemKey } from '#platform/aws/table.ts';
import {
  type CacheStore,
  type HeadOptions,
  type NewObject,
  type ObjectHead,
  type ObjectKey,
  type ObjectWriteOptions,
  type StoredObject,
  tombstoneRetentionMs,
} from '../../store/cache-store.ts';
import type { Revision } from '../../store/revision.ts';
import { readSortKey, toKeyText, toSortKey } from './cache-keys.ts';
import type { CacheParts } from './cache-parts.ts';
import type { Condition } from './cache-table.ts';
import { packText, unpackText } from './packed-text.ts';

/** Bytes up to which a body is stored uncompressed. */
const plainBodyBytesMax = 1024;

/** See {@link CacheStore.putObject}. */
export async function putObject(
  parts: CacheParts,
  object: NewObject,
  options: ObjectWriteOptions = {},
): Promise<boolean> {
  const item = toItem(object);
  await recordKind(parts, object.key);
  return parts.table.putIf(item, toCondition(object.revision, { ...options, isPut: true }));
}

/** See {@link CacheStore.deleteObject}. */
export async function deleteObject(
  parts: CacheParts,
  { key, revision }: Pick<ObjectHead, 'key' | 'revision'>,
  options: ObjectWriteOptions = {},
): Promise<boolean> {
  await recordKind(parts, key);
  const expiresAt = Math.ceil((parts.clock.now() + tombstoneRetentionMs) / 1000);
  const tombstone = { ...toItemKey(key), version: revision, gone: true, expiresAt };
  return parts.table.putIf(tombstone, toCondition(revision, { ...options, isPut: false }));
}

/**
 * The condition under which nothing newer is lost and, if that matters, what was read is still stored. An equal revision meets it unless it
 * was a deletion, so that a write whose answer was lost does not look late. No parentheses: the local engine takes a millisecond for some.
 */
function toCondition(
  revision: Revision,
  { isPut, ...options }: ObjectWriteOptions & { readonly isPut: boolean },
): Condition {
  const values = { ':version': revision };
  const isLaterEnd = isPut ? 'version < :version' : 'version <= :version';
  const isAbsent = 'attribute_not_exists(pk)';
  if (!('over' in options)) {
    const isSame = 'version = :version AND attribute_not_exists(gone)';
    return { expression: `${isAbsent} OR ${isLaterEnd}${isPut ? ` OR ${isSame}` : ''}`, values };
  }
  const { over } = options;
  if (over === undefined)
    return { expression: `${isAbsent} OR attribute_exists(gone) AND ${isLaterEnd}`, values };
  const { application } = over;
  const isIn = application === undefined ? 'attribute_not_exists(application)' : 'application = :before';
  return {
    expression: `version <= :version AND version = :seen AND attribute_not_exists(gone) AND ${isIn}`,
    values: {
      ...values,
      ':seen': over.revision,
      ...(application !== undefined && { ':before': application }),
    },
  };
}

/** See {@link CacheStore.getObjects}. */
export async function getObjects(
  parts: CacheParts,
  keys: readonly ObjectKey[],
  { consistent = false, toWrite = false }: { readonly consistent?: boolean; readonly toWrite?: boolean } = {},
): Promise<readonly (StoredObject | undefined)[]> {
  // DynamoDB refuses a batch that names a key twice.
  const wanted = new Map(keys.map((key) => [toId(key), toItemKey(key)]));
  const [only] = wanted.values();
  const items =
    toWrite && wanted.size === 1 && only !== undefined
      ? (await parts.table.readToWrite(only)).map(fromRaw)
      : await parts.table.getBatch([...wanted.values()], { consistent: consistent || toWrite });
  const found = new Map(items.map((item) => [`${item['pk']}\n${item['sk']}`, item]));
  return keys.map((key) => {
    const item = found.get(toId(key));
    return item === undefined || item['gone'] === true ? undefined : findObject(parts, item, key);
  });
}

/** See {@link CacheStore.listObjects}. */
export async function* listObjects(
  parts: CacheParts,
  { account, kind }: Pick<ObjectKey, 'account' | 'kind'>,
  { location, outside }: NonNullable<Parameters<CacheStore['listObjects']>[2]> = {},
): AsyncGenerator<readonly StoredObject[]> {
  const query = { pk: getPartition(account, kind), prefix: toLocationPrefix(location), consistent: false };
  const filter = outside === undefined ? undefined : toOutside(outside);
  for await (const items of parts.table.queryPages({ ...query, ...(filter && { filter }) })) {
    const live = items.filter((item) => item['gone'] !== true);
    yield live.flatMap((item) => findObject(parts, item, toObjectKey(item, { account, kind })) ?? []);
  }
}

/** See {@link CacheStore.listHeads}. */
export async function* listHeads(
  { table, clock, unreadable }: CacheParts,
  { account, kind }: Pick<ObjectKey, 'account' | 'kind'>,
  { location, withGone = false, consistent = true, after }: HeadOptions = {},
): AsyncGenerator<readonly ObjectHead[]> {
  const seconds = clock.now() / 1000;
  const pk = getPartition(account, kind);
  const pages = table.queryPages({
    pk,
    prefix: toLocationPrefix(location),
    consistent,
    ...(after && { after: toItemKey({ account, kind, ...after }).sk }),
    attributes: ['sk', 'parts', 'form', 'version', 'application', 'cluster', 'leaving', 'gone', 'expiresAt'],
  });
  for await (const items of pages) {
    const wanted = items.filter(
      (item) => item['gone'] !== true || (withGone && Number(item['expiresAt']) > seconds),
    );
    yield wanted.flatMap(
      (item) => unreadable.read({ pk }, () => toHead(item, toObjectKey(item, { account, kind }), pk)) ?? [],
    );
  }
}

/** Partition of the objects of a kind. */
export function getPartition(account: string, kind: string): string {
  return `OBJECT#${toKeyText(account, kind)}`;
}

/** Where the kinds of an account are stored. */
export function getKindsKey(account: string): ItemKey {
  return { pk: `KINDS#${toKeyText(account)}`, sk: 'KINDS' };
}

/** Begins to read what writing an object will read. */
export function readObjectAhead({ table, names }: CacheParts, key: ObjectKey): void {
  table.readAhead(toItemKey(key));
  names.readAhead(getKindsKey(key.account), { kinds: [key.kind] });
}

async function recordKind({ names }: CacheParts, { account, kind }: ObjectKey): Promise<void> {
  await names.note(getKindsKey(account), { kinds: [kind] });
}

function toItemKey({ account, kind, location, name }: ObjectKey): ItemKey {
  return { pk: getPartition(account, kind), ...toSortKey(location, name) };
}

function toId(key: ObjectKey): string {
  const { pk, sk } = toItemKey(key);
  return `${pk}\n${sk}`;
}

function toLocationPrefix(location: string | undefined): string | undefined {
  return location === undefined ? undefined : `${toKeyText(location)}#`;
}

/** The filter for objects outside an application. DynamoDB applies it: most objects of a location may be the application's own. */
function toOutside(application: string): Condition {
  return {
    expression: 'attribute_not_exists(application) OR application <> :application',
    values: { ':application': application },
  };
}

function toItem({ key, revision, application, cluster, leaving, body }: NewObject): ItemKey & Item {
  const what = `${key.kind} ${key.name} of account ${key.account}`;
  return {
    ...toItemKey(key),
    version: revision,
    application,
    cluster,
    leaving: leaving?.length ? leaving : undefined,
    body: packText(body, { plainBytesMax: plainBodyBytesMax, what }),
  };
}

function toObjectKey(item: Item, { account, kind }: Pick<ObjectKey, 'account' | 'kind'>): ObjectKey {
  const [location = '', name = ''] = readSortKey(item);
  return { account, kind, location, name };
}

/** @param pk partition of an item read without it, for errors */
function toHead(item: Item, key: ObjectKey, pk?: string): ObjectHead {
  cacheReader.checkForm(item, pk);
  return {
    key,
    revision: cacheReader.getRevision(item, 'version', pk),
    application: cacheReader.findText(item, 'application', pk),
    cluster: cacheReader.findText(item, 'cluster', pk),
    leaving: cacheReader.findTexts(item, 'leaving', pk),
    gone: item['gone'] === true,
  };
}

/** Undefined for an unreadable item. */
function findObject({ unreadable }: CacheParts, item: Item, key: ObjectKey): StoredObject | undefined {
  const pk = getPartition(key.account, key.kind);
  return unreadable.read({ pk }, () => {
    const body = cacheReader.getTextOrBytes(item, 'body');
    return { ...toHead(item, key), readBody: () => unpackText(body) };
  });
}
