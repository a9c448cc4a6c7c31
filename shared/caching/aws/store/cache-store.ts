import type { Clock, Randomness } from '#core/clock.ts';
import type { Logger } from '#core/logger.ts';
import { RememberedBytes } from '#core/remembered-bytes.ts';
import type { StoreClient } from '#platform/aws/table.ts';
import type { CacheStore } from '../../store/cache-store.ts';
import type { RowCodec } from '../../store/packed-row.ts';
import { deleteAccount, listStoredKinds } from './cache-deletion.ts';
import {
  listDirectory,
  pruneApplication,
  readApplicationAhead,
  recordApplication,
} from './cache-directory.ts';
import { getEpoch, raiseEpoch, requestComparison } from './cache-epochs.ts';
import { NameStore } from './cache-names.ts';
import { listNamespaces, recordNamespaces } from './cache-namespaces.ts';
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

/** What the store needs. */
export interface CacheStoreOptions {
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
    recordNamespaces: (account) => recordNamespaces(parts, account),
    listNamespaces: (accounts) => listNamespaces(parts, accounts),
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
