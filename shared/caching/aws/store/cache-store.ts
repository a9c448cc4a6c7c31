import type { Clock, Randomness } from '#core/clock.ts';
import type { Logger } from '#core/logger.ts';
import { RememberedBytes } from '#core/remembered-bytes.ts';
import { cacheReader } from '#platform/aws/item-reader.ts';
import { type Item, type ItemKey, ItemUpdate, type StoreClient } from '#platform/aws/table.ts';
import type { AccountEpoch, CacheStore } from '../../store/cache-store.ts';
import type { RowCodec } from '../../store/packed-row.ts';
import { deleteAccount, listStoredKinds } from './cache-deletion.ts';
import {
  listDirectory,
  pruneApplication,
  readApplicationAhead,
  recordApplication,
} from './cache-directory.ts';
import { toKeyText } from './cache-keys.ts';
import { listLocations, recordLocations } from './cache-locations.ts';
import { NameStore } from './cache-names.ts';
import {
  deleteObject,
  getObjects,
  listHeads,
  listObjects,
  putObject,
  readObjectAhead,
} from './cache-objects.ts';
import type { CacheParts } from './cache-parts.ts';
import { getRow, listRows, mergeRows, readRowAhead } from './cache-rows.ts';
import { CacheTable } from './cache-table.ts';
import { jsonRowCodec } from './json-row-codec.ts';
import { RowMemory } from './row-memory.ts';
import { UnreadableItems } from './unreadable-items.ts';

interface CacheStoreOptions {
  readonly documents: StoreClient;
  readonly tableName: string;
  readonly clock: Clock;
  readonly randomness: Randomness;
  /** How many bytes this process may remember. Default: a limit of its own. */
  readonly remembered?: RememberedBytes;
  /** How rows are written, by view. Others are written as JSON. */
  readonly codecs?: { readonly [view: string]: RowCodec };
  /** Logs items that cannot be read. Default: no log. */
  readonly log?: Pick<Logger, 'error'>;
}

/** The cache in DynamoDB, by single-item conditional writes and without an index. */
export function createCacheStore(options: CacheStoreOptions): CacheStore {
  const table = new CacheTable(options);
  const { clock, randomness, codecs = {}, remembered = new RememberedBytes() } = options;
  const unreadable = new UnreadableItems(options.log);
  const parts: CacheParts = {
    table,
    clock,
    randomness,
    rowMemory: new RowMemory(remembered),
    directoryMemory: new RowMemory(remembered, 1),
    names: new NameStore({ table, clock, randomness, remembered, unreadable }),
    unreadable,
    getCodec: (view) => (Object.hasOwn(codecs, view) ? codecs[view] : undefined) ?? jsonRowCodec,
  };
  return {
    readAhead({ object, application, rows }) {
      readObjectAhead(parts, object);
      if (application !== undefined) readApplicationAhead(parts, application);
      for (const row of rows) readRowAhead(parts, row);
    },
    putObject: (object, how) => putObject(parts, object, how),
    deleteObject: (key, revision, how) => deleteObject(parts, { key, revision }, how),
    getObjects: (keys, how) => getObjects(parts, keys, how),
    listObjects: (account, kind, how) => listObjects(parts, { account, kind }, how),
    listHeads: (account, kind, how) => listHeads(parts, { account, kind }, how),
    getEpoch: (account) => getEpoch(parts, account),
    raiseEpoch: (account, epoch) => raiseEpoch(parts, account, epoch),
    requestComparison: (account, nowMs) => requestComparison(parts, account, nowMs),
    listKinds: (account) => listStoredKinds(parts, account),
    recordLocations: (account, kind) => recordLocations(parts, account, kind),
    listLocations: (accounts) => listLocations(parts, accounts),
    mergeRows: (place, changes) => mergeRows(parts, place, changes),
    getRow: (key, how) => getRow(parts, key, how),
    listRows: (place, how) => listRows(parts, place, how),
    recordApplication: (application, account, names) =>
      recordApplication(parts, { application, account }, names),
    pruneApplication: (place, readLeft) => pruneApplication(parts, place, readLeft),
    listApplications: (how) => listDirectory(parts, how),
    listAccounts: (application, how) => listDirectory(parts, { ...how, application }),
    takeUnreadable: (account) => unreadable.take(account),
    deleteAccount: (account, how) => deleteAccount(parts, account, how),
  };
}

/** See {@link CacheStore.getEpoch}. */
async function getEpoch(parts: CacheParts, account: string): Promise<AccountEpoch | undefined> {
  const item = await parts.table.get(getEpochKey(account));
  return item && findEpoch(parts, item);
}

/** See {@link CacheStore.raiseEpoch}. */
async function raiseEpoch(
  parts: CacheParts,
  account: string,
  { epoch, identity }: AccountEpoch,
): Promise<AccountEpoch> {
  const { table } = parts;
  const key = getEpochKey(account);
  const isFirst = { expression: 'attribute_not_exists(pk)' };
  const raised = { ...key, epoch, cluster: identity };
  if (await table.putIf(raised, isFirst)) return { epoch, identity };
  const update = new ItemUpdate().set({ epoch, cluster: identity }).require('epoch', '<=', epoch - 1);
  const item = (await table.update(key, update)) ?? (await table.get(key));
  // It is never deleted: an account that comes back under this name must continue from its last epoch.
  const stored = item && findEpoch(parts, item);
  // An unreadable one is overwritten. Epochs rise with time: there was none later.
  if (item !== undefined && stored === undefined) await table.put(raised);
  return stored ?? { epoch, identity };
}

/** See {@link CacheStore.requestComparison}. */
async function requestComparison({ table }: CacheParts, account: string, nowMs: number): Promise<boolean> {
  const update = new ItemUpdate().set({ compareMs: nowMs }).require('epoch', '>', 0);
  return (await table.update(getEpochKey(account), update)) !== undefined;
}

function getEpochKey(account: string): ItemKey {
  return { pk: `EPOCH#${toKeyText(account)}`, sk: 'EPOCH' };
}

function findEpoch({ unreadable }: CacheParts, item: Item): AccountEpoch | undefined {
  return unreadable.read({ pk: String(item['pk']) }, () => {
    cacheReader.checkForm(item);
    const compareMs = cacheReader.findNumber(item, 'compareMs');
    return {
      epoch: cacheReader.getNumber(item, 'epoch'),
      identity: cacheReader.getText(item, 'cluster'),
      ...(compareMs !== undefined && { compareMs }),
    };
  });
}
