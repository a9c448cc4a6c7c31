import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import type { CacheStore } from '../../core/cache/cache-store.ts';
import type { RowCodec } from '../../core/cache/packed-row.ts';
import type { Clock, Randomness } from '../../core/clock.ts';
import { deleteAccount, listStoredKinds } from './cache-deletion.ts';
import { listDirectory, noteApplication, pruneApplication } from './cache-directory.ts';
import { getEpoch, raiseEpoch } from './cache-epochs.ts';
import { NameStore } from './cache-names.ts';
import { deleteObject, getObjects, listHeads, listObjects, putObject } from './cache-objects.ts';
import type { CacheParts } from './cache-parts.ts';
import { getRow, listRows, mergeRows } from './cache-rows.ts';
import { CacheTable } from './cache-table.ts';
import { jsonRowCodec } from './json-row-codec.ts';

/** What the store is made of. */
export interface CacheStoreOptions {
  readonly documents: DynamoDBDocumentClient;
  readonly tableName: string;
  readonly clock: Clock;
  readonly randomness: Randomness;
  /** How rows are written, by view. Others are written as JSON. */
  readonly codecs?: { readonly [view: string]: RowCodec };
}

/** The cache in DynamoDB, by single-item conditional writes and without an index. */
export function createCacheStore(options: CacheStoreOptions): CacheStore {
  const table = new CacheTable(options);
  const { clock, randomness, codecs = {} } = options;
  const parts: CacheParts = {
    table,
    clock,
    randomness,
    names: new NameStore({ table, clock, randomness }),
    getCodec: (view) => (Object.hasOwn(codecs, view) ? codecs[view] : undefined) ?? jsonRowCodec,
  };
  return {
    putObject: (object, how) => putObject(parts, object, how),
    deleteObject: (key, version, how) => deleteObject(parts, { key, version }, how),
    getObjects: (keys, how) => getObjects(parts, keys, how),
    listObjects: (account, kind, how) => listObjects(parts, { account, kind }, how),
    listHeads: (account, kind, how) => listHeads(parts, { account, kind }, how),
    getEpoch: (account) => getEpoch(parts, account),
    raiseEpoch: (account, epoch) => raiseEpoch(parts, account, epoch),
    listKinds: (account) => listStoredKinds(parts, account),
    mergeRows: (application, account, changes) => mergeRows(parts, { application, account }, changes),
    getRow: (key, how) => getRow(parts, key, how),
    listRows: (application, account, how) => listRows(parts, { application, account }, how),
    noteApplication: (application, account, names) => noteApplication(parts, { application, account }, names),
    pruneApplication: (application, account, readLeft) =>
      pruneApplication(parts, { application, account }, readLeft),
    listApplications: () => listDirectory(parts),
    listAccounts: (application) => listDirectory(parts, application),
    deleteAccount: (account, how) => deleteAccount(parts, account, how),
  };
}
